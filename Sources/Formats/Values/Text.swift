import JSON

extension StringProtocol {
  /// Without the white space at both ends.
  package var trimmed: String {
    var text = Substring(self)
    func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
    guard let start = text.utf8.firstIndex(where: { !isBlank($0) }),
      let end = text.utf8.lastIndex(where: { !isBlank($0) })
    else { return "" }
    // ASCII at both ends, as nearly all text is: letters with marks need no look.
    if text.utf8[start] < 0x80, text.utf8[end] < 0x80 { return String(text[start...end]) }
    while let first = text.first, first.isWhitespace { text.removeFirst() }
    while let last = text.last, last.isWhitespace { text.removeLast() }
    return String(text)
  }

  /// As XML has it between tags and in quotes.
  ///
  /// Line breaks are written as references, since a parser turns plain ones in attributes into
  /// spaces; characters that XML 1.0 cannot hold are replaced.
  package var escapedForXML: String {
    var result = ""
    for scalar in unicodeScalars {
      switch scalar.value {
      case 0x26: result += "&amp;"
      case 0x3C: result += "&lt;"
      case 0x3E: result += "&gt;"
      case 0x22: result += "&quot;"
      case 0x09, 0x0A, 0x0D: result += "&#\(scalar.value);"
      case 0..<0x20, 0xFFFE, 0xFFFF: result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// With what a terminal obeys as `\u{1B}`.
  package var printable: String {
    var result = ""
    for scalar in unicodeScalars {
      if scalar.isObeyed {
        result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

extension String {
  /// Byte order, which is how Core Data sorts names of properties.
  package func precedes(_ other: String) -> Bool {
    let result = utf8.withContiguousStorageIfAvailable { one in
      other.utf8.withContiguousStorageIfAvailable { two in
        for index in 0..<min(one.count, two.count) where one[index] != two[index] {
          return one[index] < two[index]
        }
        return one.count < two.count
      }
    }
    return (result ?? nil) ?? utf8.lexicographicallyPrecedes(other.utf8)
  }
}

extension Sequence {
  /// The elements by the bytes of their names.
  package func sortedByBytes(_ name: (Element) -> String) -> [Element] {
    let elements = Array(self)
    // Texts are compared here, in a module that is optimised, and not in that of the elements.
    let names = elements.map(name)
    return names.indices.sorted { names[$0].precedes(names[$1]) }.map { elements[$0] }
  }
}

extension [String] {
  /// The first text that stood before.
  package var firstRepeated: String? {
    var seen: Set<String> = []
    return first { !seen.insert($0).inserted }
  }
}

/// Text as predicates with `[c]` and `[d]` compare it.
package enum FoldedText {
  /// Without regard to case: Unicode's lower case, so that “É” is “é” and “ẞ” is “ß”. Without
  /// regard to diacritics: precomposed letters become their base letters, and nonspacing marks go.
  package static func fold(_ text: String, ignoringCase: Bool, ignoringMarks: Bool) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return ignoringCase ? text.lowercased() : text }
    var result = text
    if ignoringMarks {
      var scalars = String.UnicodeScalarView()
      for scalar in text.unicodeScalars {
        if scalar.value < 0xC0 {
          scalars.append(scalar)
        } else if let base = DiacriticTable.bases[scalar] {
          scalars.append(base)
        } else if scalar.properties.generalCategory != .nonspacingMark {
          scalars.append(scalar)
        }
      }
      result = String(scalars)
    }
    return ignoringCase ? result.lowercased() : result
  }
}

/// Letters with marks and the letters they are without, for text compared without regard to them.
///
/// Made from Unicode 14's canonical decompositions below U+2000 (Latin, Greek, Cyrillic, Hebrew, Indic).
enum DiacriticTable {
  static let bases: [Unicode.Scalar: Unicode.Scalar] = {
    var bases: [Unicode.Scalar: Unicode.Scalar] = [:]
    for group in table.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
      let scalars = group.unicodeScalars
      guard let base = scalars.first else { continue }
      for letter in scalars.dropFirst() { bases[letter] = base }
    }
    return bases
  }()

  /// Groups: the bare letter, then its forms with marks.
  private static let table = """
    AÀÁÂÃÄÅĀĂĄǍǞǠǺȀȂȦḀẠẢẤẦẨẪẬẮẰẲẴẶ CÇĆĈĊČḈ EÈÉÊËĒĔĖĘĚȄȆȨḔḖḘḚḜẸẺẼẾỀỂỄỆ IÌÍÎÏĨĪĬĮİǏȈȊḬḮỈỊ
    NÑŃŅŇǸṄṆṈṊ OÒÓÔÕÖŌŎŐƠǑǪǬȌȎȪȬȮȰṌṎṐṒỌỎỐỒỔỖỘỚỜỞỠỢ UÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛȔȖṲṴṶṸṺỤỦỨỪỬỮỰ YÝŶŸȲẎỲỴỶỸ
    aàáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ cçćĉċčḉ eèéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ iìíîïĩīĭįǐȉȋḭḯỉị
    nñńņňǹṅṇṉṋ oòóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ uùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự
    yýÿŷȳẏẙỳỵỷỹ DĎḊḌḎḐḒ dďḋḍḏḑḓ GĜĞĠĢǦǴḠ gĝğġģǧǵḡ HĤȞḢḤḦḨḪ hĥȟḣḥḧḩḫẖ JĴ jĵǰ KĶǨḰḲḴ kķǩḱḳḵ
    LĹĻĽḶḸḺḼ lĺļľḷḹḻḽ RŔŖŘȐȒṘṚṜṞ rŕŗřȑȓṙṛṝṟ SŚŜŞŠȘṠṢṤṦṨ sśŝşšșṡṣṥṧṩ TŢŤȚṪṬṮṰ tţťțṫṭṯṱẗ
    WŴẀẂẄẆẈ wŵẁẃẅẇẉẘ ZŹŻŽẐẒẔ zźżžẑẓẕ ÆǢǼ æǣǽ ƷǮ ʒǯ ØǾ øǿ ¨΅῁῭΅ ΑΆἈἉἊἋἌἍἎἏᾈᾉᾊᾋᾌᾍᾎᾏᾸᾹᾺΆᾼ
    ΕΈἘἙἚἛἜἝῈΈ ΗΉἨἩἪἫἬἭἮἯᾘᾙᾚᾛᾜᾝᾞᾟῊΉῌ ΙΊΪἸἹἺἻἼἽἾἿῘῙῚΊ ΟΌὈὉὊὋὌὍῸΌ ΥΎΫὙὛὝὟῨῩῪΎ
    ΩΏὨὩὪὫὬὭὮὯᾨᾩᾪᾫᾬᾭᾮᾯῺΏῼ ιΐίϊἰἱἲἳἴἵἶἷὶίῐῑῒΐῖῗ αάἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ εέἐἑἒἓἔἕὲέ
    ηήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ υΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ οόὀὁὂὃὄὅὸό ωώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ ϒϓϔ
    ЕЀЁӖ ГЃ ІЇ КЌ ИЍЙӢӤ УЎӮӰӲ ийѝӣӥ еѐёӗ гѓ ії кќ уўӯӱӳ ѴѶ ѵѷ ЖӁӜ жӂӝ АӐӒ аӑӓ ӘӚ әӛ ЗӞ зӟ ОӦ
    оӧ ӨӪ өӫ ЭӬ эӭ ЧӴ чӵ ЫӸ ыӹ اآأإ وؤ يئ ەۀ ہۂ ےۓ नऩ रऱ ळऴ कक़ खख़ गग़ जज़ डड़ ढढ़ फफ़ यय़ ডড় ঢঢ় যয়
    ਲਲ਼ ਸਸ਼ ਖਖ਼ ਗਗ਼ ਜਜ਼ ਫਫ਼ େୈ ଡଡ଼ ଢଢ଼ ෙේ གགྷ ཌཌྷ དདྷ བབྷ ཛཛྷ ཀཀྵ ဥဦ BḂḄḆ bḃḅḇ FḞ fḟ MḾṀṂ mḿṁṃ PṔṖ pṕṗ VṼṾ
    vṽṿ XẊẌ xẋẍ ſẛ ᾿῍῎῏ ῾῝῞῟ ρῤῥ ΡῬ
    """
}

/// Words of a command line as a shell takes them.
package enum ShellText {
  /// `strata rows 'My Store.sqlite' Recipe`: a command to be pasted.
  package static func command(_ words: [String]) -> String {
    (["strata"] + words.map(quoted)).joined(separator: " ")
  }

  /// The same of words one by one.
  package static func command(_ words: String...) -> String { command(words) }

  /// A line in words, with quotes and backslashes as a shell has them, and nothing else of a shell.
  package static func words(_ line: String) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    var isEscaped = false
    for character in line {
      if isEscaped {
        // Between double quotes a backslash is one, unless it stands before what it is for.
        let isKept = quote != nil && !"\"\\$`".contains(character)
        word = (word ?? "") + (isKept ? "\\" : "") + String(character)
        isEscaped = false
      } else if character == "\\", quote != "'" {
        isEscaped = true
      } else if let open = quote {
        if character == open { quote = nil } else { word = (word ?? "") + String(character) }
      } else if character == "'" || character == "\"" {
        quote = character
        word = word ?? ""
      } else if character.isWhitespace {
        if let done = word { words.append(done) }
        word = nil
      } else {
        word = (word ?? "") + String(character)
      }
    }
    return words + (word.map { [$0] } ?? [])
  }

  /// A word as a shell reads it back.
  ///
  /// Line breaks and whatever else a terminal obeys are written as bash, zsh and ksh read them in `$'…'`: as
  /// they are, they would not survive being printed and pasted.
  package static func quoted(_ word: String) -> String {
    if !word.isEmpty, word.utf8.allSatisfy(isPlain) { return word }
    if word.unicodeScalars.contains(where: \.isObeyed) {
      let text = word.unicodeScalars.map { scalar in
        switch scalar {
        case "\n": "\\n"
        case "\t": "\\t"
        case "'", "\\": "\\\(scalar)"
        case _ where scalar.isObeyed:
          String(scalar).utf8.map { byte in
            let digits = String(byte, radix: 8)
            return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
          }.joined()
        default: String(scalar)
        }
      }
      return "$'" + text.joined() + "'"
    }
    return "'"
      + word.split(separator: "'", omittingEmptySubsequences: false)
      .joined(separator: "'\\''") + "'"
  }

  /// Whether a byte stands for itself in every shell.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "/.-_@:+=,".utf8.contains(byte)
    }
  }
}

/// Numbers for people.
package enum NumberText {
  /// `48,211`
  package static func grouped(_ number: some BinaryInteger) -> String {
    let digits = String(number.magnitude)
    var text = ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return number < 0 ? "-" + text : text
  }

  /// `1 object`, `48,211 objects`
  package static func counted(
    _ number: some BinaryInteger, _ noun: String, plural: String? = nil
  ) -> String {
    grouped(number) + " " + (number == 1 ? noun : plural ?? noun + "s")
  }

  /// A clause about so many, whose first word is its verb: `have no value` of several, `has no value` of one.
  package static func agreeing(_ number: some BinaryInteger, _ clause: String) -> String {
    guard number == 1, let verb = clause.split(separator: " ").first else { return clause }
    let singular =
      switch verb {
      case "have": "has"
      case "are": "is"
      default: String(verb) + "s"
      }
    return singular + clause.dropFirst(verb.count)
  }

  /// `412 B`, `1.2 MB`: powers of 1000, as files are reported.
  package static func bytes(_ count: Int) -> String {
    guard count >= 1000 else { return "\(count) B" }
    var value = Double(count)
    var unit = 0
    let units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"]
    while value >= 999.5, unit < units.count - 1 {
      value /= 1000
      unit += 1
    }
    return (value < 9.95 ? fixed(value, digits: 1) : String(Int(value.rounded()))) + " "
      + units[unit]
  }

  /// `34 ms`, `1.7 s`, `1:05`, `2:03:04`
  package static func seconds(_ seconds: Double) -> String {
    guard seconds.isFinite, seconds < 1e9 else { return "—" }
    if seconds < 0.95 { return "\(Int((max(0, seconds) * 1000).rounded())) ms" }
    if seconds < 60 { return fixed(max(0, seconds), digits: 1) + " s" }
    let whole = Int(seconds)
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
    return hours > 0
      ? "\(hours):\(two(minutes)):\(two(rest))" : "\(minutes):\(two(rest))"
  }

  /// A number with its significant digits: `1.404`, `48,211`.
  package static func short(_ value: Double) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
    let size = abs(value)
    if size >= 1000 || value == value.rounded() { return grouped(Int(value.rounded())) }
    return size < 0.001 ? "\(value)" : fixed(value, digits: size < 1 ? 4 : size < 100 ? 3 : 1)
  }

  /// A number with so many digits after the point.
  package static func fixed(_ value: Double, digits: Int) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "\(value)" }
    let scale = (0..<max(0, digits)).reduce(1) { scale, _ in scale * 10 }
    let scaled = Int((abs(value) * Double(scale)).rounded())
    let sign = value < 0 && scaled != 0 ? "-" : ""
    guard digits > 0 else { return sign + String(scaled) }
    let fraction = String(scaled % scale)
    return sign + "\(scaled / scale)."
      + String(repeating: "0", count: digits - fraction.count) + fraction
  }

  private static func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

extension String {
  /// A sentence as a part of another.
  package var asClause: String {
    guard let first else { return "" }
    // Names of Core Data's tables begin as they do.
    let isName = dropFirst().first.map { $0.isUppercase || $0 == "_" } ?? false
    let text = (isName ? String(first) : first.lowercased()) + dropFirst()
    return text.hasSuffix(".") ? String(text.dropLast()) : text
  }
}
