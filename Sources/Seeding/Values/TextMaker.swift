import ManagedModel

/// The person that an object's names, addresses and logins are of.
struct MadePerson: Sendable {
  let first: Int
  let last: Int

  init(using random: inout SeededGenerator) {
    first = random.below(SeedWords.firstNames.count)
    last = random.below(SeedWords.lastNames.count)
  }

  private func at(_ words: [String], _ index: Int) -> String {
    words.isEmpty ? "" : words[index % words.count]
  }

  var firstName: String { at(SeedWords.firstNames, first) }
  var lastName: String { at(SeedWords.lastNames, last) }
  var plainFirst: String { at(SeedWords.plainFirstNames, first) }
  var plainLast: String { at(SeedWords.plainLastNames, last) }
}

/// A text of a topic. With a number no two texts of one topic are equal.
struct TextMaker: Sendable {
  let topic: TextTopic

  func text(
    _ person: MadePerson, using random: inout SeededGenerator, number: Int? = nil
  ) -> String {
    let mark = number.map { String($0) } ?? ""
    switch topic {
    case .email:
      return "\(person.plainFirst).\(person.plainLast)\(mark)@\(random.pick(SeedWords.hosts))"
    case .userName: return "\(person.plainFirst)_\(person.plainLast)" + mark
    case .link: return link(&random) + (number.map { "/\($0)" } ?? "")
    case .path:
      return
        "/\(random.pick(SeedWords.words))/\(random.pick(SeedWords.plainLastNames))" + dashed(number)
    case .host: return (number.map { "n\($0)." } ?? "") + random.pick(SeedWords.hosts)
    case .fileName:
      return
        "\(random.pick(SeedWords.plainLastNames))-\(number ?? random.below(10_000)).\(random.pick(SeedWords.extensions))"
    case .uuid: return UUIDText.text(random.uuid())
    case .digest: return hex(&random, 40)
    case .token: return hex(&random, 32)
    case .phone:
      return "+49 30 555 " + padded(number ?? random.below(100_000), to: 5)
    case .postalCode: return padded(number ?? random.below(100_000), to: 5)
    case .code:
      let letters = ["A", "B", "C", "K", "M", "R", "S", "X"]
      return
        "\(random.pick(letters))\(random.pick(letters))-\(number.map { padded($0, to: 4) } ?? padded(random.below(10_000), to: 4))"
    case .digits: return String(number ?? random.below(3000))
    case .version:
      return "\(random.below(9) + 1).\(random.below(12)).\(number ?? random.below(20))"
    case .json:
      return
        "{\"version\":\(random.below(4) + 1),\"pinned\":\(random.chance(30)),\"id\":\(number ?? random.below(1000))}"
    case .colour:
      if let number { return "#" + padded(hexadecimal: number, to: 6) }
      return "#" + padded(hexadecimal: random.below(1 << 24), to: 6)
    case .isoDate:
      return
        "20\(padded(10 + random.below(16), to: 2))-\(padded(1 + random.below(12), to: 2))-\(padded(1 + random.below(28), to: 2))"
        + dashed(number)
    default: return plain(person, &random) + (number.map { " \($0)" } ?? "")
    }
  }

  /// Texts that are numbered at their end, if at all.
  private func plain(_ person: MadePerson, _ random: inout SeededGenerator) -> String {
    switch topic {
    case .fullName: return person.firstName + " " + person.lastName
    case .firstName: return person.firstName
    case .lastName: return person.lastName
    case .initials: return String(person.firstName.prefix(1)) + String(person.lastName.prefix(1))
    case .sentence: return random.pick(SeedWords.sentences)
    case .paragraph:
      var text = random.pick(SeedWords.sentences)
      for _ in 0..<random.below(5) {
        text += (random.chance(15) ? "\n" : " ") + random.pick(SeedWords.sentences)
      }
      return text
    case .word: return random.pick(SeedWords.words)
    case .company: return random.pick(SeedWords.companies)
    case .city, .region: return random.pick(SeedWords.cities)
    case .country: return random.pick(SeedWords.countries)
    case .countryCode: return random.pick(SeedWords.countryCodes)
    case .street: return "\(random.pick(SeedWords.streets)) \(1 + random.below(199))"
    case .language: return random.pick(SeedWords.languages)
    case .locale: return random.pick(SeedWords.locales)
    case .timeZone: return random.pick(SeedWords.zones)
    case .currency: return random.pick(SeedWords.currencies)
    case .mimeType: return random.pick(SeedWords.mimeTypes)
    case .emoji: return random.pick(SeedWords.emoji)
    case .unit: return random.pick(SeedWords.units)
    case .state: return random.pick(SeedWords.states)
    case .kind: return random.pick(SeedWords.kinds)
    case .role: return random.pick(SeedWords.roles)
    case .gender: return random.pick(SeedWords.genders)
    case .symbol: return random.pick(SeedWords.symbols)
    default:
      return random.pick(SeedWords.adjectives) + " " + random.pick(SeedWords.nouns)
        + random.pick(SeedWords.endings)
    }
  }

  private func link(_ random: inout SeededGenerator) -> String {
    "https://\(random.pick(SeedWords.hosts))/\(random.pick(SeedWords.plainLastNames))/\(random.below(100_000))"
  }

  private func dashed(_ number: Int?) -> String { number.map { "-\($0)" } ?? "" }

  private func hex(_ random: inout SeededGenerator, _ count: Int) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    var word: UInt64 = 0
    for index in 0..<count {
      if index & 15 == 0 { word = random.next() }
      let digit = UInt8(truncatingIfNeeded: word & 15)
      bytes.append(digit < 10 ? 48 + digit : 87 + digit)
      word >>= 4
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private func padded(_ number: Int, to width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  private func padded(hexadecimal number: Int, to width: Int) -> String {
    let digits = String(number, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }
}
