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
