/// Finds the shape of a text.
struct TextShapeReader {
  private let scalars: [Unicode.Scalar]
  private let classes: ScalarClasses
  private var pieces: [TextShape.Piece] = []

  init(_ scalars: [Unicode.Scalar], _ classes: ScalarClasses) {
    (self.scalars, self.classes) = (scalars, classes)
  }

  mutating func read() -> [TextShape.Piece] {
    pieces.reserveCapacity(scalars.count)
    if isXMLPropertyList {
      readXML()
    } else if !readJSON() {
      pieces = []
      if let isUpper = hexCase {
        for place in scalars.indices { add(place, .hex(isUpper: isUpper)) }
      } else {
        readPlain(scalars.indices)
      }
      keepSchemes()
      replacePunctuationAlone()
    }
    return pieces
  }

  // MARK: - Plain text

  /// Adds a character as one of an alphabet, or as it is where it is not of it.
  private mutating func add(_ place: Int, _ alphabet: TextShape.Alphabet) {
    let scalar = scalars[place]
    pieces.append(alphabet.place(of: scalar).map { .symbol(alphabet, $0) } ?? .kept(scalar))
  }

  private mutating func keep(_ range: Range<Int>) {
    for place in range { pieces.append(.kept(scalars[place])) }
  }

  private mutating func addPlain(_ place: Int) {
    let scalar = scalars[place]
    switch scalar.value {
    case 0x30...0x39: add(place, .digit)
    case 0x41...0x5A: add(place, .letter(isUpper: true))
    case 0x61...0x7A: add(place, .letter(isUpper: false))
    case 0..<0x80: pieces.append(.kept(scalar))
    default:
      guard let member = classes.member(scalar), member.characters.count > 1 else {
        pieces.append(.kept(scalar))
        return
      }
      pieces.append(.symbol(.scalars(member.characters), member.place))
    }
  }

  private mutating func readPlain(_ range: Range<Int>) {
    var place = range.lowerBound
    while place < range.upperBound {
      // %C3 of a URL stays a byte.
      if scalars[place] == "%", place + 2 < range.upperBound, isHex(place + 1), isHex(place + 2) {
        let isUpper = !(place + 1...place + 2).contains {
          (0x61...0x66).contains(scalars[$0].value)
        }
        pieces.append(.kept("%"))
        add(place + 1, .hex(isUpper: isUpper))
        add(place + 2, .hex(isUpper: isUpper))
        place += 3
      } else {
        addPlain(place)
        place += 1
      }
    }
  }

  private func isHex(_ place: Int) -> Bool {
    TextShape.Alphabet.hex(isUpper: false).place(of: scalars[place]) != nil
  }

  /// The case of a text of hexadecimal digits, such as a hash; `nil` for any other, and for mere digits or letters.
  private var hexCase: Bool? {
    guard scalars.count >= 8, scalars.count.isMultiple(of: 2), scalars.indices.allSatisfy(isHex)
    else { return nil }
    let upper = scalars.contains { (0x41...0x46).contains($0.value) }
    let lower = scalars.contains { (0x61...0x66).contains($0.value) }
    let digits = scalars.contains { (0x30...0x39).contains($0.value) }
    return digits && upper != lower ? upper : nil
  }

  /// Schemes that say what a URL is.
  private static let schemes: Set<String> = [
    "http", "https", "ftp", "file", "ws", "wss", "data", "x-coredata",
  ]
  /// Those before which no two slashes stand.
  private static let shortSchemes = ["mailto:", "tel:", "sms:"]

  private mutating func keepSchemes() {
    for scheme in Self.shortSchemes where starts(with: scheme, at: 0) {
      for place in 0..<scheme.unicodeScalars.count { pieces[place] = .kept(scalars[place]) }
    }
    var place = 0
    while place + 2 < scalars.count {
      defer { place += 1 }
      guard scalars[place] == ":", scalars[place + 1] == "/", scalars[place + 2] == "/" else {
        continue
      }
      var start = place
      while start > 0, place - start < 12, isOfScheme(scalars[start - 1]) { start -= 1 }
      var name = String.UnicodeScalarView()
      name.append(contentsOf: scalars[start..<place])
      guard Self.schemes.contains(String(name).lowercased()) else { continue }
      for index in start..<place { pieces[index] = .kept(scalars[index]) }
    }
  }

  private func isOfScheme(_ scalar: Unicode.Scalar) -> Bool {
    scalar == "-" || (0x61...0x7A).contains(scalar.value | 0x20)
  }

  private func starts(with text: String, at place: Int) -> Bool {
    let other = Array(text.unicodeScalars)
    return place + other.count <= scalars.count
      && scalars[place..<place + other.count].elementsEqual(other)
  }

  private static let punctuation = (0x21...0x7E as ClosedRange<UInt32>)
    .compactMap(Unicode.Scalar.init).filter {
      !(0x30...0x39).contains($0.value) && !(0x41...0x5A).contains($0.value)
        && !(0x61...0x7A).contains($0.value)
    }

  /// Of a text that has nothing but punctuation, that is replaced.
  private mutating func replacePunctuationAlone() {
    let hasOthers = scalars.contains { scalar in
      scalar.value >= 0x80 || scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
    }
    guard !hasOthers else { return }
    let alphabet = TextShape.Alphabet.scalars(Self.punctuation)
    pieces = scalars.map { scalar in
      alphabet.place(of: scalar).map { .symbol(alphabet, $0) } ?? .kept(scalar)
    }
  }

  // MARK: - JSON

  /// - Returns: false where the text is none, so that nothing of it is of use.
  private mutating func readJSON() -> Bool {
    let blanks: Set<UInt32> = [9, 10, 13, 32]
    guard let first = scalars.first(where: { !blanks.contains($0.value) }),
      let last = scalars.last(where: { !blanks.contains($0.value) }),
      first == "{" && last == "}" || first == "[" && last == "]"
    else { return false }
    var place = 0
    while place < scalars.count {
      switch scalars[place].value {
      case 0x22:
        var end = place + 1
        while end < scalars.count, scalars[end] != "\"" { end += scalars[end] == "\\" ? 2 : 1 }
        guard end < scalars.count else { return false }
        pieces.append(.kept("\""))
        readString(place + 1..<end)
        pieces.append(.kept("\""))
        place = end + 1
      case 0x2D, 0x30...0x39: place = readNumber(from: place)
      case 0x2C, 0x3A, 0x5B, 0x5D, 0x7B, 0x7D, 9, 10, 13, 32:
        pieces.append(.kept(scalars[place]))
        place += 1
      default:
        guard let word = ["true", "false", "null"].first(where: { starts(with: $0, at: place) })
        else { return false }
        keep(place..<place + word.utf8.count)
        place += word.utf8.count
      }
    }
    keepSchemes()
    return true
  }

  private mutating func readString(_ range: Range<Int>) {
    var place = range.lowerBound
    while place < range.upperBound {
      guard scalars[place] == "\\", place + 1 < range.upperBound else {
        addPlain(place)
        place += 1
        continue
      }
      guard scalars[place + 1] == "u", place + 5 < range.upperBound,
        (place + 2...place + 5).allSatisfy(isHex)
      else {
        keep(place..<place + 2)
        place += 2
        continue
      }
      // The first half keeps a surrogate what it is.
      keep(place..<place + 4)
      let isUpper = (place + 2...place + 5).contains { (0x41...0x46).contains(scalars[$0].value) }
      add(place + 4, .hex(isUpper: isUpper))
      add(place + 5, .hex(isUpper: isUpper))
      place += 6
    }
  }

  /// - Returns: the place behind the number.
  private mutating func readNumber(from start: Int) -> Int {
    var place = start
    if scalars[place] == "-" {
      pieces.append(.kept("-"))
      place += 1
    }
    var isFirst = true
    var isExponent = false
    while place < scalars.count {
      switch scalars[place] {
      case "0"..."9":
        if isExponent {
          pieces.append(.kept(scalars[place]))
        } else {
          add(place, isFirst ? .leadingDigit : .digit)
        }
        isFirst = false
      case ".": pieces.append(.kept("."))
      case "e", "E":
        pieces.append(.kept(scalars[place]))
        isExponent = true
      case "+" where isExponent, "-" where isExponent: pieces.append(.kept(scalars[place]))
      default: return place
      }
      place += 1
    }
    return place
  }

  // MARK: - Property lists in XML

  private var isXMLPropertyList: Bool {
    guard scalars.first == "<" else { return false }
    var head = String.UnicodeScalarView()
    head.append(contentsOf: scalars.prefix(512))
    return String(head).contains("<plist")
  }

  /// Tags stay, and of an archive what its reader needs: keys, classes and references.
  private mutating func readXML() {
    var all = String.UnicodeScalarView()
    all.append(contentsOf: scalars)
    let isArchive = String(all).contains("$archiver")
    var (tag, key, classDepth) = ("", "", 0)
    var place = 0
    while place < scalars.count {
      if scalars[place] == "<" {
        let end = scalars[place...].firstIndex(of: ">") ?? scalars.count - 1
        let name = text(place + 1..<end)
        if isArchive, key == "$classes" {
          classDepth += name == "array" ? 1 : name == "/array" ? -1 : 0
          if name == "/array", classDepth <= 0 { (key, classDepth) = ("", 0) }
        }
        tag = name
        keep(place..<end + 1)
        place = end + 1
        continue
      }
      let end = scalars[place...].firstIndex(of: "<") ?? scalars.count
      readContent(place..<end, tag, key, isArchive: isArchive)
      if tag == "key" { key = text(place..<end) }
      place = end
    }
    keepSchemes()
  }

  private func text(_ range: Range<Int>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars[range])
    return String(view)
  }

  private mutating func readContent(
    _ range: Range<Int>, _ tag: String, _ key: String, isArchive: Bool
  ) {
    let isStructure =
      isArchive
      && (tag == "key"
        || ["CF$UID", "$version", "$classname", "$classes", "$archiver"].contains(key)
        || text(range) == "$null")
    guard !isStructure else { return keep(range) }
    switch tag {
    case "string", "key":
      var place = range.lowerBound
      while place < range.upperBound {
        if scalars[place] == "&", let end = scalars[place..<range.upperBound].firstIndex(of: ";") {
          keep(place..<end + 1)
          place = end + 1
        } else {
          addPlain(place)
          place += 1
        }
      }
    case "integer", "real":
      var place = range.lowerBound
      while place < range.upperBound {
        if scalars[place] == "-" || ("0"..."9").contains(scalars[place]) {
          place = min(readNumber(from: place), range.upperBound)
        } else {
          pieces.append(.kept(scalars[place]))
          place += 1
        }
      }
    case "data":
      // The last character before the padding has bits that must be zero.
      let padding = scalars[range].firstIndex(of: "=").map { $0 - 1 }
      for place in range {
        if place == padding { pieces.append(.kept(scalars[place])) } else { addPlain(place) }
      }
    case "date":
      // 2020-05-03T10:20:30Z: the last digits of the year, the minute and the second are free.
      let free: Set<Int> = [2, 3, 15, 18]
      for place in range {
        if free.contains(place - range.lowerBound) {
          addPlain(place)
        } else {
          keep(place..<place + 1)
        }
      }
    default: keep(range)
    }
  }
}
