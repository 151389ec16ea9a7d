/// A text as what stays of it and what is replaced: letters, digits and other characters of an alphabet.
///
/// Punctuation and spaces stay, and what makes a text an e-mail address, a URL, JSON or a property list with it. Where
/// nothing else is in the text, punctuation is replaced too.
struct TextShape {
  /// The characters that may stand in a place.
  enum Alphabet: Equatable {
    /// A letter of ASCII, in the case that it has.
    case letter(isUpper: Bool)
    case digit
    /// The first digit of a number: no zero.
    case leadingDigit
    /// A hexadecimal digit; letters are written in one case.
    case hex(isUpper: Bool)
    /// Those of a class, or those that a rule leaves.
    case scalars([Unicode.Scalar])

    var count: Int {
      switch self {
      case .letter: 26
      case .digit: 10
      case .leadingDigit: 9
      case .hex: 16
      case .scalars(let scalars): scalars.count
      }
    }

    func scalar(_ place: Int) -> Unicode.Scalar {
      func ascii(_ base: UInt8, _ offset: Int) -> Unicode.Scalar {
        Unicode.Scalar(base + UInt8(truncatingIfNeeded: offset))
      }
      switch self {
      case .letter(let isUpper): return ascii(UInt8(ascii: isUpper ? "A" : "a"), place)
      case .digit: return ascii(UInt8(ascii: "0"), place)
      case .leadingDigit: return ascii(UInt8(ascii: "1"), place)
      case .hex(let isUpper):
        return place < 10
          ? ascii(UInt8(ascii: "0"), place)
          : ascii(UInt8(ascii: isUpper ? "A" : "a"), place - 10)
      case .scalars(let scalars): return scalars[place]
      }
    }

    /// The place of a character; `nil` where it is not of the alphabet.
    func place(of scalar: Unicode.Scalar) -> Int? {
      let value = scalar.value
      switch self {
      case .letter(let isUpper):
        let base: UInt32 = isUpper ? 0x41 : 0x61
        return (base..<base + 26).contains(value) ? Int(value - base) : nil
      case .digit: return (0x30...0x39).contains(value) ? Int(value - 0x30) : nil
      case .leadingDigit: return (0x31...0x39).contains(value) ? Int(value - 0x31) : nil
      case .hex:
        switch value {
        case 0x30...0x39: return Int(value - 0x30)
        case 0x41...0x46: return Int(value - 0x41) + 10
        case 0x61...0x66: return Int(value - 0x61) + 10
        default: return nil
        }
      case .scalars(let scalars): return scalars.firstIndex(of: scalar)
      }
    }

    /// What tells alphabets apart; upper and lower case are one, so that texts that differ in case alone do so
    /// afterwards.
    var label: [UInt8] {
      switch self {
      case .letter: [1]
      case .digit: [2]
      case .leadingDigit: [3]
      case .hex: [4]
      case .scalars(let scalars): [5] + scalars.prefix(32).flatMap { Array(String($0).utf8) }
      }
    }
  }

  /// A place in a text.
  enum Piece {
    case kept(Unicode.Scalar)
    case symbol(Alphabet, Int)
  }

  var pieces: [Piece]

  /// - Parameters:
  ///   - kept: places of characters that stay as they are.
  ///   - allowed: the characters that may stand in a place, where these are fewer than the alphabet's.
  init(
    _ scalars: [Unicode.Scalar], _ classes: ScalarClasses, keeping kept: Set<Int> = [],
    allowing allowed: [Int: [Unicode.Scalar]] = [:]
  ) {
    var reader = TextShapeReader(scalars, classes)
    pieces = reader.read()
    for (place, own) in allowed {
      guard case .symbol = pieces[place] else { continue }
      let alphabet = Alphabet.scalars(own)
      pieces[place] =
        alphabet.place(of: scalars[place]).map { .symbol(alphabet, $0) } ?? .kept(scalars[place])
    }
    for place in kept { pieces[place] = .kept(scalars[place]) }
  }

  /// Another text of this shape.
  func replaced(by cipher: SymbolCipher) -> String {
    var symbols: [Int] = []
    var radices: [Int] = []
    var context: [UInt8] = []
    for piece in pieces {
      switch piece {
      case .kept(let scalar): context += [0] + Array(String(scalar).utf8)
      case .symbol(let alphabet, let place):
        context += alphabet.label
        symbols.append(place)
        radices.append(alphabet.count)
      }
    }
    var rest = cipher.replaced(symbols, radices: radices, context: context)[...]
    var text = String.UnicodeScalarView()
    for piece in pieces {
      switch piece {
      case .kept(let scalar): text.append(scalar)
      case .symbol(let alphabet, let place): text.append(alphabet.scalar(rest.popFirst() ?? place))
      }
    }
    return String(text)
  }
}
