import Terminal

/// A key with what it does here and now.
///
/// Input, the footer, the help page and the table in the article on keys are made of the same list.
package struct Binding: Sendable, Equatable {
  /// What is pressed; none where only the palette does it.
  package var keys: [Key]
  /// How the keys are shown; the first key's name unless it stands for several.
  package var label: String
  /// What it does, in a few words.
  package var title: String
  /// What it asks for.
  package var action: Action
  /// Why it cannot be done now, as the rest of a sentence that begins with the title.
  var reason: String?
  /// The command line that does the same.
  package var command: String?
  /// Whether the footer shows it, room allowing.
  var isInFooter: Bool

  init(
    _ keys: [Key], label: String? = nil, _ title: String, _ action: Action,
    unless reason: String? = nil, command: String? = nil, footer: Bool = true
  ) {
    self.keys = keys
    self.label = label ?? keys.first?.name ?? ""
    self.title = title
    self.action = action
    self.reason = reason
    self.command = command
    isInFooter = footer
  }

  var isAvailable: Bool { reason == nil }

  /// The same on other keys; on none it can still be had from the palette.
  func on(_ keys: [Key]) -> Binding {
    var binding = self
    binding.keys = keys
    binding.label = keys.map(\.name).joined(separator: " ")
    return binding
  }
}

extension [Binding] {
  func binding(for key: Key) -> Binding? { first { $0.keys.contains(key) } }
}
