/// A colour as a theme names it, before anyone knows what the terminal can show.
package enum Color: Sendable, Hashable {
  /// What the terminal shows by default.
  case `default`
  /// One of the sixteen colours that the user's terminal gives a look to.
  case ansi(UInt8)
  /// The 256 colour palette.
  case indexed(UInt8)
  case rgb(UInt8, UInt8, UInt8)
}

/// How a cell looks.
///
/// A style is drawn *over* what is there: a default colour leaves the colour below, attributes add
/// up. A list fills its selected row once and then writes cells that know nothing of selection.
package struct Style: Sendable, Hashable {
  /// The colour of the text.
  package var foreground: Color
  /// The colour behind it.
  package var background: Color
  /// What it is besides.
  package var attributes: Attributes

  /// What a terminal shows besides colours.
  package struct Attributes: OptionSet, Sendable, Hashable {
    /// A bit for each.
    package let rawValue: UInt8

    /// Attributes by their bits.
    package init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// Bold, or brighter.
    package static let bold = Attributes(rawValue: 1)
    /// Darker.
    package static let dim = Attributes(rawValue: 2)
    /// Underlined.
    package static let underline = Attributes(rawValue: 4)
    /// Text and background exchanged.
    package static let reverse = Attributes(rawValue: 8)
  }

  /// A look; what is left out is the terminal’s own.
  package init(
    _ foreground: Color = .default, on background: Color = .default, _ attributes: Attributes = []
  ) {
    self.foreground = foreground
    self.background = background
    self.attributes = attributes
  }

  /// Nothing of its own.
  package static let plain = Style()

  /// This style where it says something, else the one below it.
  package func over(_ below: Style) -> Style {
    Style(
      foreground == .default ? below.foreground : foreground,
      on: background == .default ? below.background : background,
      attributes.union(below.attributes))
  }

  /// The same with more attributes.
  package func adding(_ attributes: Attributes) -> Style {
    Style(foreground, on: background, self.attributes.union(attributes))
  }
}
