import CNcurses
import Terminal

/// The colour pairs of curses, made as styles ask for them.
///
/// When the terminal has no pair left, the pair that agrees on the background serves, then the
/// terminal's own colours: text stays readable, only less varied.
struct ColorPairs {
  private struct Pair: Hashable {
    var foreground: Int32
    var background: Int32
  }

  private let limit: Int32
  private let isDirect: Bool
  private var numbers: [Pair: Int32] = [:]

  /// To be called once curses has started its colours.
  init(isDirect: Bool) {
    self.isDirect = isDirect
    limit = strata_color_pairs()
  }

  /// Whether a screen full of new looks might not find pairs any more.
  var isNearlyFull: Bool { limit > 1_000 && numbers.count > Int(limit) / 4 * 3 }

  /// The pair for a style that has been reduced to what the terminal shows.
  mutating func number(for style: Style) -> Int32 {
    let pair = Pair(foreground: code(style.foreground), background: code(style.background))
    if pair.foreground == -1 && pair.background == -1 { return 0 }
    if let number = numbers[pair] { return number }
    let number = Int32(numbers.count + 1)
    guard number < limit,
      strata_init_pair(number, pair.foreground, pair.background) != ERR
    else {
      return numbers.first { $0.key.background == pair.background }?.value ?? 0
    }
    numbers[pair] = number
    return number
  }

  private func code(_ color: Color) -> Int32 {
    switch color {
    case .default: return -1
    case .ansi(let number) where !isDirect || number < 8: return Int32(number)
    case .indexed(let number) where !isDirect: return Int32(number)
    case .ansi, .indexed, .rgb:
      guard let (red, green, blue) = color.components else { return -1 }
      // A terminal of direct colours still takes 0 to 7 for the palette's.
      return max(8, Int32(red << 16 | green << 8 | blue))
    }
  }
}
