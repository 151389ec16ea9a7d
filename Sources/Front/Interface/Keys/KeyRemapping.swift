import ManagedModel
import Terminal

/// Keys that a person put elsewhere, by the section and the name of what they do.
package struct KeyRemapping: Sendable, Equatable {
  static let everywhere = "Everywhere"

  /// `["Browse": ["sort": [S]]]`; an action without a key is in the palette only.
  package var keys: [String: [String: [Key]]] = [:]

  /// Keys by section, by the name of the action.
  package init(_ keys: [String: [String: [Key]]] = [:]) {
    self.keys = keys
  }

  func applied(to bindings: [Binding], in section: String) -> [Binding] {
    guard let changed = keys[section] else { return bindings }
    var placed: Set<String> = []
    return bindings.map { binding in
      let name = binding.action.name
      // The keys that move say themselves where to.
      guard !binding.action.isMovement, let keys = changed[name] else { return binding }
      // One that has several entries has its new keys in the first.
      return binding.on(placed.insert(name).inserted ? keys : [])
    }.filter { !$0.keys.isEmpty || changed[$0.action.name]?.isEmpty == true }
  }

  /// Where there are bindings, and under which names.
  static var names: [(section: String, names: [String])] {
    Keymap.allSections(.blank).map { section in
      (section.title, section.bindings.filter { !$0.action.isMovement }.map(\.action.name))
    }
  }

  /// What is wrong with a section's or an action's name; `nil` where there is such a one.
  package static func problem(section: String, name: String? = nil) -> String? {
    guard let known = names.first(where: { $0.section == section }) else {
      return "there is no section “\(section)”" + meant(section, names.map(\.section))
    }
    guard let name, !known.names.contains(name) else { return nil }
    if name == Action.movement { return "the keys that move the cursor cannot be changed" }
    return "\(section) has no “\(name)”" + meant(name, known.names)
  }

  /// What was probably meant by a word, or all that there are, behind what is wrong with it.
  package static func meant(_ word: String, _ known: [String]) -> String {
    Nearest.match(word, in: known).map { "; did you mean “\($0)”?" }
      ?? "; there are \(known.joined(separator: ", "))"
  }

  /// Keys that would mean two things in one place, as sentences.
  package var conflicts: [String] {
    guard !keys.isEmpty else { return [] }
    // A screen's own use of a key of everywhere is meant where no one changed it.
    let meant = KeyRemapping().clashes
    return clashes.filter { !meant.contains($0) }
  }

  private var clashes: [String] {
    var state = State.blank
    state.keys = self
    let everywhere = Keymap.everywhere(state)
    var sentences: [String] = []
    for screen in Screen.allCases + [.files] {
      var meanings: [Key: Binding] = [:]
      for binding in Keymap.screen(screen, state) + everywhere {
        for key in binding.keys {
          guard let other = meanings[key], other.action != binding.action else {
            meanings[key] = binding
            continue
          }
          let sentence =
            "\(screen.title): \(key.name) is “\(other.action.name)” and cannot also be "
            + "“\(binding.action.name)”"
          if !sentences.contains(sentence) { sentences.append(sentence) }
        }
      }
    }
    return sentences
  }
}

extension State {
  /// A state without a store: for what keys there are.
  package static func withKeys(_ keys: KeyRemapping) -> State {
    var state = blank
    state.keys = keys
    return state
  }

  static var blank: State { State(storePath: "STORE") }
}
