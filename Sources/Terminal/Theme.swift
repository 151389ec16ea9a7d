/// A look for each role that a cell can have.
///
/// Roles other than `text` leave open what they do not name: the background of the row they lie
/// on, the colour of the text around them. Start a frame with `Grid(size, base: theme[.text])`.
package struct Theme: Sendable, Equatable {
  /// What it is chosen by.
  package var name: String
  /// Whether it has a light background.
  package var isLight: Bool
  private var styles: [Role: Style]

  /// A theme of these looks.
  package init(name: String, isLight: Bool = false, styles: [Role: Style]) {
    self.name = name
    self.isLight = isLight
    self.styles = styles
  }

  /// The roles that the theme names.
  package var roles: Set<Role> { Set(styles.keys) }

  /// The style of a role; plain text when the theme does not name it.
  package subscript(role: Role) -> Style { styles[role] ?? .plain }

  /// What a piece of the screen is, as themes name it.
  package enum Role: String, Sendable, CaseIterable {
    /// Text without a role of its own; its background is the screen's.
    case text
    /// What matters less: units, paths, what comes after the name.
    case dim
    case title
    case border
    /// The border of the pane that has the keys.
    case borderFocused
    /// The selected row of the pane that has the keys, and of one that has not.
    case selection, selectionUnfocused
    /// What a search has found.
    case match
    case header, headerActive
    case columnTitle
    case footerKey, footerText, footerDisabled
    case popup
    case prompt
    case added, removed, changed
    case success, warning, error
    case gauge, gaugeRest
    // The values of attributes and relationships.
    case string, number, boolean, date, data, identifier, transformable, relationship, null
    case entity, attribute
    case code
  }
}

extension Theme {
  /// The look without colours: bold, underline and reverse video only.
  package static let mono = Theme(
    name: "mono",
    styles: [
      .title: Style(.default, on: .default, .bold),
      .borderFocused: Style(.default, on: .default, .bold),
      .selection: Style(.default, on: .default, .reverse),
      .selectionUnfocused: Style(.default, on: .default, .underline),
      .match: Style(.default, on: .default, [.bold, .underline]),
      .header: Style(.default, on: .default, .reverse),
      .headerActive: Style(.default, on: .default, [.bold, .underline]),
      .columnTitle: Style(.default, on: .default, [.bold, .underline]),
      .footerKey: Style(.default, on: .default, .bold),
      .added: Style(.default, on: .default, .bold),
      .removed: Style(.default, on: .default, .bold),
      .changed: Style(.default, on: .default, .bold),
      .warning: Style(.default, on: .default, .bold),
      .error: Style(.default, on: .default, [.bold, .reverse]),
      .entity: Style(.default, on: .default, .bold),
      .relationship: Style(.default, on: .default, .underline),
    ])
}
