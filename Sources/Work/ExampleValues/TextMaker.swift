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
package struct TextMaker: Sendable {
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

/// What a text is about, as far as the names of its property and entity show.
enum TextTopic: Sendable, Equatable {
  case fullName, firstName, lastName, userName, initials, email, phone, link, path, host
  case title, sentence, paragraph, word, company
  case city, country, countryCode, street, postalCode, region
  case language, locale, timeZone, currency, colour, uuid, fileName, mimeType, code, digest, token
  case version, json, emoji, unit, state, kind, role, gender, symbol, isoDate, digits

  /// The topic of a property of an entity.
  init(_ property: String, of entity: String) {
    let name = NameWords(property)
    self =
      Self.exact(name) ?? Self.address(name) ?? Self.technical(name) ?? Self.prose(name, entity)
  }

  private static func exact(_ name: NameWords) -> TextTopic? {
    if name.isOne(of: "firstname", "givenname", "forename") { return .firstName }
    if name.isOne(of: "lastname", "surname", "familyname") { return .lastName }
    if name.isOne(of: "fullname", "displayname", "authorname", "ownername") { return .fullName }
    if name.isOne(of: "username", "login", "handle", "nickname", "screenname") { return .userName }
    if name.has("email", "mail") { return .email }
    if name.has("phone", "mobile", "fax", "telephone", "tel") { return .phone }
    if name.has("uuid", "guid") { return .uuid }
    if name.has("initials") { return .initials }
    if name.has("gender", "sex") { return .gender }
    return nil
  }

  private static func address(_ name: NameWords) -> TextTopic? {
    if name.has("city", "town", "place", "location") { return .city }
    if name.has("country"), name.has("code", "iso") { return .countryCode }
    if name.has("country", "nation") { return .country }
    if name.has("street", "address", "address1", "line1") { return .street }
    if name.has("zip", "postcode", "postal", "zipcode") { return .postalCode }
    if name.has("region", "province", "county") { return .region }
    if name.has("language", "lang") { return .language }
    if name.has("locale") { return .locale }
    if name.has("timezone") || name.isOne(of: "timezone", "tz") { return .timeZone }
    if name.has("currency") { return .currency }
    if name.has("company", "organization", "organisation", "vendor", "publisher", "brand") {
      return .company
    }
    return nil
  }

  private static func technical(_ name: NameWords) -> TextTopic? {
    if name.has("url", "uri", "link", "href", "website", "homepage", "webpage") { return .link }
    if name.has("host", "domain", "hostname", "server") { return .host }
    if name.has("path", "folder", "directory") { return .path }
    if name.isOne(of: "filename", "file") || name.ends(in: "filename", "file") { return .fileName }
    if name.has("mime", "uti", "mimetype") || name.isOne(of: "contenttype") { return .mimeType }
    if name.has("hash", "digest", "checksum", "sha", "sha1", "sha256", "md5", "etag", "fingerprint")
    {
      return .digest
    }
    if name.has("token", "secret", "key", "cookie", "password", "credential", "nonce") {
      return .token
    }
    if name.has("version", "build") { return .version }
    if name.has("json", "payload", "metadata") { return .json }
    if name.has("emoji", "reaction") { return .emoji }
    if name.has("color", "colour", "tint", "hex") { return .colour }
    if name.has("icon", "symbol", "glyph", "image") { return .symbol }
    if name.has("unit", "units") { return .unit }
    if name.has("status", "state", "phase") { return .state }
    if name.has("role", "permission") { return .role }
    if name.has("type", "kind", "category", "style", "mode") { return .kind }
    if name.has("date", "timestamp") { return .isoDate }
    if name.has(
      "id", "identifier", "ids", "ref", "reference", "sku", "code", "isbn", "barcode",
      "serial", "slug", "number", "no")
    {
      return .code
    }
    if name.has("count", "amount", "year", "age") { return .digits }
    return nil
  }

  private static func prose(_ name: NameWords, _ entity: String) -> TextTopic {
    let isPerson = NameWords(entity).has(
      "person", "people", "user", "author", "contact", "member", "customer", "owner", "employee",
      "friend", "player", "student", "teacher", "artist", "writer", "patient", "profile", "client")
    if name.has("author", "creator", "owner", "sender", "recipient", "artist", "speaker") {
      return .fullName
    }
    if name.has("title", "headline", "subject", "heading", "subtitle", "label", "caption") {
      return .title
    }
    if name.has("name") {
      if NameWords(entity).has("tag", "category", "label", "keyword", "topic") { return .word }
      if NameWords(entity).has("company", "brand", "organization", "vendor", "publisher") {
        return .company
      }
      if NameWords(entity).has("city", "place", "location") { return .city }
      if NameWords(entity).has("country") { return .country }
      return isPerson ? .fullName : .title
    }
    if name.has("tag", "keyword", "tags", "keywords", "genre", "topic", "word", "group") {
      return .word
    }
    if name.has(
      "description", "details", "body", "content", "text", "notes", "bio", "about",
      "abstract", "article", "html", "markdown")
    {
      return .paragraph
    }
    if name.has(
      "note", "comment", "message", "summary", "remark", "hint", "excerpt", "reason",
      "quote", "snippet", "info", "detail")
    {
      return .sentence
    }
    return name.words.count > 1 ? .title : .word
  }
}

/// The words of a property's name: `firstName`, `first_name` and `URLString` have two each.
struct NameWords: Sendable, Equatable {
  let words: [String]

  init(_ name: String) {
    var words: [String] = []
    var word = ""
    var previous: Character?
    let characters = Array(name)
    for (index, character) in characters.enumerated() {
      guard character.isLetter || character.isNumber else {
        if !word.isEmpty { words.append(word) }
        (word, previous) = ("", nil)
        continue
      }
      let next = index + 1 < characters.count ? characters[index + 1] : nil
      // `URLString`: the last capital of several begins the next word.
      let begins =
        character.isUppercase
        && (previous?.isLowercase == true || previous?.isNumber == true
          || previous?.isUppercase == true && next?.isLowercase == true)
      if begins, !word.isEmpty {
        words.append(word)
        word = ""
      }
      word += character.lowercased()
      previous = character
    }
    if !word.isEmpty { words.append(word) }
    self.words = words
  }

  /// Whether one of the words is among these.
  func has(_ names: String...) -> Bool { words.contains { names.contains($0) } }

  /// Whether the name ends in one of these.
  func ends(in names: String...) -> Bool { words.last.map(names.contains) ?? false }

  /// All letters together, for names that people write in one word.
  var joined: String { words.joined() }

  /// Whether the name is one of these, however it is written.
  func isOne(of names: String...) -> Bool { names.contains(joined) }
}

/// What generated texts are made of, wide letters, letters with marks and several scripts among them.
enum SeedWords {
  static let firstNames = [
    "Anna", "Ben", "Clara", "David", "Emma", "Felix", "Grace", "Hugo", "Ida", "Jonas", "Zoë",
    "José", "María", "François", "Åke", "Siobhán", "Kateřina", "Олена", "Γιώργος", "花子", "小明",
    "민준", "أمينة", "דנה", "Priya", "Nguyễn", "Łukasz", "Søren", "Aylin", "Kwame",
  ]
  static let lastNames = [
    "Miller", "Smith", "Jones", "Brown", "García", "Müller", "Schmidt", "Rossi", "Dubois", "Öberg",
    "Novák", "Kowalski", "Nielsen", "Шевченко", "Παπαδόπουλος", "田中", "王", "김", "حسن", "לוי",
    "Raghunathan", "O'Neill", "van Dijk", "Yılmaz", "Mensah", "Silva", "Lefèvre", "Ångström",
  ]
  /// Letters alone: what addresses and user names are made of.
  static let plainFirstNames = [
    "anna", "ben", "clara", "david", "emma", "felix", "grace", "hugo", "ida", "jonas", "zoe",
    "jose", "maria", "francois", "ake", "siobhan", "katerina", "olena", "giorgos", "hanako", "ming",
    "minjun", "amina", "dana", "priya", "nguyen", "lukasz", "soren", "aylin", "kwame",
  ]
  static let plainLastNames = [
    "miller", "smith", "jones", "brown", "garcia", "mueller", "schmidt", "rossi", "dubois", "oberg",
    "novak", "kowalski", "nielsen", "shevchenko", "papadopoulos", "tanaka", "wang", "kim", "hassan",
    "levi", "raghunathan", "oneill", "vandijk", "yilmaz", "mensah", "silva", "lefevre", "angstrom",
  ]
  static let adjectives = [
    "Quick", "Quiet", "Green", "Northern", "Early", "Second", "Small", "Final", "Old", "Bright",
    "Winter", "Open", "Shared", "Lost", "Blue", "Simple", "Weekly", "Grüne", "Première", "新しい",
  ]
  static let nouns = [
    "garden", "harbour", "letter", "journey", "window", "river", "market", "plan", "evening",
    "bridge", "notebook", "mountain", "recipe", "meeting", "lantern", "orchard", "Straße",
    "café", "旅行", "заметка",
  ]
  static let endings = [
    "", "", "", "", " at noon", " for two", " in spring", " revisited", " (draft)", " à la carte",
  ]
  static let sentences = [
    "The first train leaves before sunrise.", "Nobody had counted the boxes twice.",
    "Bring the blue folder and a spare key.", "It rained, so we stayed for another tea.",
    "Ask Clara about the second invoice.", "Das Treffen ist auf Montag verschoben.",
    "On en reparle demain, à tête reposée.", "明日の午後、駅で会いましょう。", "Все документы уже отправлены.",
    "The numbers look right this time.", "Please water the plants on Thursday 🌱.",
    "Three of the five tests pass.", "Keep the receipt; the box can go.",
  ]
  static let words = [
    "vegan", "urgent", "draft", "archive", "spring", "travel", "music", "work", "family", "ideas",
    "photo", "history", "garden", "sport", "süß", "été", "雑記", "reading", "budget", "later",
  ]
  static let companies = [
    "Northwind Traders", "Harbour & Sons", "Blue Lantern GmbH", "Atelier Lumière", "Orchard Labs",
    "Müller Feinkost", "Sakura Works", "Granite Press", "Riverside Co-op", "Polar Systems",
  ]
  static let cities = [
    "Berlin", "Lyon", "Oslo", "Kraków", "Porto", "Kyoto", "Austin", "Montréal", "Wellington",
    "Nairobi", "São Paulo", "Αθήνα", "İzmir", "Zürich", "Cork",
  ]
  static let countries = [
    "Germany", "France", "Norway", "Poland", "Portugal", "Japan", "United States", "Canada",
    "New Zealand", "Kenya", "Brazil", "Greece", "Türkiye", "Switzerland", "Ireland",
  ]
  static let countryCodes = [
    "DE", "FR", "NO", "PL", "PT", "JP", "US", "CA", "NZ", "KE", "BR", "GR", "TR", "CH", "IE",
  ]
  static let streets = [
    "Harbour Road", "Lindenstraße", "Rue des Lilas", "Main Street", "Via Roma", "Karl Johans gate",
    "Elm Avenue", "Mill Lane",
  ]
  static let languages = ["en", "de", "fr", "ja", "pl", "pt-BR", "tr", "el", "uk", "zh-Hans", "ar"]
  static let locales = ["en_US", "de_DE", "fr_FR", "ja_JP", "pl_PL", "pt_BR", "tr_TR", "ar_EG"]
  static let zones = [
    "Europe/Berlin", "America/New_York", "Asia/Tokyo", "Pacific/Auckland", "Africa/Nairobi", "UTC",
  ]
  static let currencies = ["EUR", "USD", "JPY", "GBP", "CHF", "BRL", "PLN", "NOK"]
  static let units = ["g", "kg", "ml", "l", "piece", "cm", "m", "min", "h"]
  static let states = ["new", "open", "active", "pending", "done", "archived"]
  static let kinds = ["basic", "default", "standard", "custom", "other"]
  static let roles = ["owner", "admin", "member", "guest"]
  static let genders = ["female", "male", "diverse"]
  static let mimeTypes = [
    "image/jpeg", "image/png", "application/pdf", "text/plain", "audio/mpeg", "video/mp4",
    "application/json",
  ]
  static let extensions = ["jpg", "png", "pdf", "txt", "m4a", "mov", "json", "zip"]
  static let hosts = [
    "example.org", "example.com", "example.net", "shop.example.com", "news.example.org",
    "photos.example.net",
  ]
  static let emoji = ["🌱", "🔥", "🎉", "🍕", "📚", "🚲", "🌧️", "👩🏽‍💻", "🇳🇿", "❤️"]
  static let symbols = [
    "star", "heart", "folder", "tray.fill", "bookmark", "bell", "person.circle",
  ]
}
