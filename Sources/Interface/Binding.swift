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

  /// Why not, where it is not available.
  package var reason: String? {
    if case .unavailable(let reason) = availability { reason } else { nil }
  }

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
