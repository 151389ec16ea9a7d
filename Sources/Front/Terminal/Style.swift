#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

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

/// A piece of a line in one style.
package struct Span: Sendable, Hashable {
  /// What is written.
  package var text: String
  /// Its look.
  package var style: Style

  /// A text in a look.
  package init(_ text: String, _ style: Style = .plain) {
    self.text = text
    self.style = style
  }
}

extension [Span] {
  /// The width of the line in cells, looking no further than `limit`.
  package func width(upTo limit: Int = .max) -> Int {
    var width = 0
    for span in self {
      width += TextWidth.of(span.text, upTo: limit - width)
      if width > limit { break }
    }
    return width
  }
}

/// Where a text lies in a field wider than itself.
package enum Alignment: Sendable, Hashable {
  case leading, center, trailing

  func indent(of width: Int, in field: Int) -> Int {
    let free = max(0, field - width)
    switch self {
    case .leading: return 0
    case .center: return free / 2
    case .trailing: return free
    }
  }
}

extension Color {
  /// How well this colour is read on another, from 1 to 21, as WCAG 2 reckons it; `nil` where one of
  /// them is the terminal's own, which nobody knows.
  package func contrast(on background: Color) -> Double? {
    guard let own = luminance, let other = background.luminance else { return nil }
    return (max(own, other) + 0.05) / (min(own, other) + 0.05)
  }

  /// From 0 for black to 1 for white.
  package var luminance: Double? {
    components.map { red, green, blue in
      0.2126 * Self.linear(red) + 0.7152 * Self.linear(green) + 0.0722 * Self.linear(blue)
    }
  }

  private static func linear(_ component: Int) -> Double {
    let value = Double(component) / 255
    return value <= 0.03928 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
  }
}

/// How many colours a terminal shows.
package enum ColorDepth: Int, Sendable, Comparable, CaseIterable {
  case none, ansi8, ansi16, indexed256, trueColor

  /// Whether the one shows less than the other.
  package static func < (left: ColorDepth, right: ColorDepth) -> Bool {
    left.rawValue < right.rawValue
  }

  /// The depth for what terminfo promises and the environment asks for.
  ///
  /// `NO_COLOR` counts when it is set and not empty (no-color.org). `COLORTERM` cannot raise the
  /// depth beyond terminfo, since terminfo's strings are all that curses can send.
  package init(terminfoColors: Int, isDirect: Bool, noColor: String?) {
    if let noColor, !noColor.isEmpty {
      self = .none
    } else if isDirect && terminfoColors > 256 {
      self = .trueColor
    } else {
      switch terminfoColors {
      case 256...: self = .indexed256
      case 16...: self = .ansi16
      case 8...: self = .ansi8
      default: self = .none
      }
    }
  }
}

extension Style {
  /// Contrast below which reduced colours are as good as one.
  private static let leastContrast = 2.0

  /// The nearest style that a terminal of this depth shows.
  ///
  /// Text that would vanish, because both its colours fall on the same one or on neighbours, becomes
  /// black or white. With no colours only the attributes are left, so draw with `Theme.mono` there.
  package func reduced(to depth: ColorDepth) -> Style {
    var style = Style(
      foreground.reduced(to: depth), on: background.reduced(to: depth), attributes)
    guard style.foreground != foreground || style.background != background,
      let contrast = style.foreground.contrast(on: style.background),
      contrast < Self.leastContrast, contrast < foreground.contrast(on: background) ?? 0
    else { return style }
    let white = Color.ansi(depth < .ansi16 ? 7 : 15)
    let isWhiteBetter =
      white.contrast(on: style.background) ?? 0 > Color.ansi(0).contrast(on: style.background) ?? 0
    style.foreground = isWhiteBetter ? white : .ansi(0)
    return style
  }
}

extension Color {
  /// The nearest colour that a terminal of that depth shows.
  package func reduced(to depth: ColorDepth) -> Color {
    switch (self, depth) {
    case (.default, _), (_, .none): return .default
    case (_, .trueColor), (.ansi, .ansi16), (.ansi, .indexed256), (.indexed, .indexed256):
      return self
    case (.ansi(let number), .ansi8):
      // Bright black is a readable grey; plain black on a dark screen is nothing.
      return .ansi(number == 8 ? 7 : number & 7)
    case (.indexed(let number), _) where number < 16:
      return Color.ansi(number).reduced(to: depth)
    case (.indexed, .ansi8), (.rgb, .ansi8): return .ansi(nearest(in: 0..<8))
    case (.indexed, .ansi16), (.rgb, .ansi16): return .ansi(nearest(in: 0..<16))
    case (.rgb, .indexed256): return .indexed(nearest(in: 16..<256))
    }
  }

  /// Red, green and blue, taking xterm's look for the numbered colours; `nil` for the default.
  package var components: (red: Int, green: Int, blue: Int)? {
    switch self {
    case .default: return nil
    case .rgb(let red, let green, let blue): return (Int(red), Int(green), Int(blue))
    case .ansi(let number), .indexed(let number):
      return Palette.components(Int(number))
    }
  }

  private func nearest(in numbers: Range<Int>) -> UInt8 {
    guard let own = components else { return 0 }
    let nearest = numbers.min { Palette.distance(own, $0) < Palette.distance(own, $1) }
    return UInt8(nearest ?? 0)
  }
}

/// The 256 colours as xterm shows them.
private enum Palette {
  private static let first: [(Int, Int, Int)] = [
    (0, 0, 0), (205, 0, 0), (0, 205, 0), (205, 205, 0),
    (0, 0, 238), (205, 0, 205), (0, 205, 205), (229, 229, 229),
    (127, 127, 127), (255, 0, 0), (0, 255, 0), (255, 255, 0),
    (92, 92, 255), (255, 0, 255), (0, 255, 255), (255, 255, 255),
  ]
  private static let steps = [0, 95, 135, 175, 215, 255]

  static func components(_ number: Int) -> (red: Int, green: Int, blue: Int) {
    switch number {
    case ..<16: return first[max(0, number)]
    case ..<232:
      let cube = number - 16
      return (steps[cube / 36], steps[cube / 6 % 6], steps[cube % 6])
    default:
      let grey = 8 + 10 * (min(number, 255) - 232)
      return (grey, grey, grey)
    }
  }

  static func distance(_ color: (red: Int, green: Int, blue: Int), _ number: Int) -> Int {
    let other = components(number)
    let (red, green, blue) = (
      color.red - other.red, color.green - other.green, color.blue - other.blue
    )
    // The eye distinguishes greens best and blues least.
    return 3 * red * red + 4 * green * green + 2 * blue * blue
  }
}
