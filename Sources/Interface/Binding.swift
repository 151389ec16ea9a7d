import Terminal

/// A key with what it does here and now.
///
/// Input, the footer, the help page and the README's table of keys are made of the same list.
package struct Binding: Sendable, Equatable {
  package enum Availability: Sendable, Equatable {
    case available
    /// Why not, as the rest of a sentence that begins with the binding's title.
    case unavailable(String)
  }

  package var keys: [Key]
  /// How the keys are shown; the first key's name unless it stands for several.
  package var label: String
  package var title: String
  package var action: Action
  package var availability: Availability
  /// The command line that does the same.
  package var command: String?
  /// Whether the footer shows it, room allowing.
  package var isInFooter: Bool

  package init(
    _ keys: [Key], label: String? = nil, _ title: String, _ action: Action,
    unless reason: String? = nil, command: String? = nil, footer: Bool = true
  ) {
    self.keys = keys
    self.label = label ?? keys.first?.name ?? ""
    self.title = title
    self.action = action
    availability = reason.map { .unavailable($0) } ?? .available
    self.command = command
    isInFooter = footer
  }

  package var isAvailable: Bool { availability == .available }
}

extension [Binding] {
  func binding(for key: Key) -> Binding? { first { $0.keys.contains(key) } }
}
