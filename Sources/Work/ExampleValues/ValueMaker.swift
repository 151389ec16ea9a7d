import ManagedModel

/// What the values of one object are made with.
package struct MadeObject {
  package var random: SeededGenerator
  let person: MadePerson
  /// Seconds since 2001 at which the object came to be.
  let created: Double
  /// Its place among the objects of its entity.
  package let ordinal: Int
  package let edge: EdgeCase?

  /// 2019-01-01, in seconds since 2001, and seven years.
  private static let begin = 567_993_600.0
  private static let minutes = 7 * 365 * 1440

  package init(seed: UInt64, ordinal: Int, edge: EdgeCase?) {
    random = SeededGenerator(seed: seed)
    person = MadePerson(using: &random)
    created = Self.begin + Double(random.below(Self.minutes)) * 60
    self.ordinal = ordinal
    self.edge = edge
  }
}

/// Makes the values of one attribute, or of an element of a composite one.
package struct ValueMaker: Sendable {
  package enum Filling: Sendable {
    case nothing
    case flag(percent: Int)
    case whole(NumberTopic)
    case real(NumberTopic)
    case decimal(NumberTopic)
    case text(TextMaker)
    case pattern([PatternSampler])
    case moment(DateTopic)
    case identifier
    case link
    case bytes(BytesTopic)
    case choice([AttributeValue])
  }

  /// What is the same for all objects, kept apart: copying all its parts for each value takes longer
  /// than making the value.
  private final class Subject: Sendable {
    let attribute: Attribute
    let limits: ValueLimits

    init(_ attribute: Attribute) {
      self.attribute = attribute
      limits = ValueLimits(attribute)
    }
  }

  private let subject: Subject
  package var attribute: Attribute { subject.attribute }
  package var limits: ValueLimits { subject.limits }
  private let isDerived: Bool
  private let isOptional: Bool
  private let isFloat: Bool
  /// Whether any value will do.
  private let isFree: Bool
  private let defaultValue: AttributeValue?
  package var filling: Filling
  /// Of a hundred objects, those without a value where none must be.
  package var emptyPercent: Int
  /// Of a hundred objects, those with the default.
  package var defaultPercent = 0
  /// Place of the object among those that must differ in this attribute.
  package var isUnique = false
  /// How often a value is rebuilt that does not keep to the rules.
  package var tries = 20
  /// Whether it may be without a value where the composite around it has one.
  package var isElementOptional: Bool
  /// Whether one object has a text of ten megabytes.
  package var isHuge = false
  /// Lengths of texts that another store shows.
  package var lengths: [Int] = []
  /// What dates another store shows.
  package var dates: ClosedRange<Double>?

  package init(_ attribute: Attribute, of entity: String, samples: MadeBytes) {
    subject = Subject(attribute)
    let limits = subject.limits
    isDerived = attribute.isDerived
    isOptional = attribute.isOptional
    isFloat = attribute.type == .float
    isFree = limits.isFree
    defaultValue = attribute.defaultValue
    emptyPercent = attribute.isOptional ? 15 : 0
    isElementOptional = attribute.isOptional
    let name = attribute.name.split(separator: ".").last.map(String.init) ?? attribute.name
    switch attribute.type {
    case .integer16, .integer32, .integer64:
      let topic = NumberTopic(name, isWhole: true)
      let bounded = topic.bounded(
        least: Self.higher(limits.least, attribute.type.wholeNumbers?.lowerBound),
        most: Self.lower(limits.most, attribute.type.wholeNumbers?.upperBound))
      filling = .whole(bounded)
      defaultPercent = topic.isCase ? 60 : 15
    case .boolean:
      filling = .flag(percent: 35)
      defaultPercent = 60
    case .double, .float:
      filling = .real(
        NumberTopic(name, isWhole: false).bounded(least: limits.least, most: limits.most))
      defaultPercent = 15
    case .decimal:
      var topic = NumberTopic(name, isWhole: false).bounded(least: limits.least, most: limits.most)
      topic.digits = min(2, topic.digits)
      filling = .decimal(topic)
      defaultPercent = 15
    case .string:
      let topic = TextTopic(name, of: entity)
      filling = .text(TextMaker(topic: topic))
      defaultPercent = [.state, .kind, .role].contains(topic) ? 60 : 10
    case .uri: filling = .link
    case .date: filling = .moment(DateTopic(name))
    case .uuid: filling = .identifier
    case .binary: filling = .bytes(BytesTopic(data: attribute, name: name, samples))
    case .transformable: filling = .bytes(BytesTopic(archive: attribute))
    case .undefined, .objectID, .composite: filling = .nothing
    }
    if !limits.patterns.isEmpty { filling = .pattern(limits.patterns) }
    if let choices = limits.choices {
      filling = .choice(choices.filter { !limits.excluded.contains($0) })
    }
    if !isSound(attribute.defaultValue ?? .null) { defaultPercent = 0 }
  }

  private static func higher(_ one: Double?, _ other: Int64?) -> Double? {
    [one, other.map { Double($0) }].compactMap { $0 }.max()
  }

  private static func lower(_ one: Double?, _ other: Int64?) -> Double? {
    [one, other.map { Double($0) }].compactMap { $0 }.min()
  }

  /// The value of an object.
  package func value(_ object: inout MadeObject, number: Int?) -> AttributeValue {
    if isDerived { return .null }
    if let edge = object.edge, !isUnique,
      let value = edge.value(of: attribute, within: limits, isHuge: isHuge, number: object.ordinal)
    {
      return value
    }
    if emptyPercent > 0, object.random.chance(emptyPercent) { return .null }
    if isUnique, let number { return numbered(number, &object) }
    if defaultPercent > 0, let value = defaultValue,
      object.random.chance(defaultPercent)
    {
      return value
    }
    var value = made(&object)
    // What is made in vain a few times in a row is reported in advance.
    var left = tries
    while left > 0, !isSound(value) {
      value = made(&object)
      left -= 1
    }
    return value
  }

  /// Whether a value keeps to the rules that are understood.
  package func isSound(_ value: AttributeValue) -> Bool {
    if case .null = value { return false }
    if isFree { return true }
    let limits = subject.limits
    if limits.excluded.contains(value) { return false }
    if let choices = limits.choices { return choices.contains(value) }
    switch value {
    case .string(let text):
      let length = text.utf16.count
      return length >= limits.shortest && length <= limits.longest ?? .max
        && limits.patterns.allSatisfy { $0.matches(text) } && text.hasPrefix(limits.prefix)
        && text.hasSuffix(limits.suffix)
        && (limits.infix.isEmpty || text.contains(limits.infix))
    case .integer(let number): return isWithin(Double(number))
    case .double(let number), .date(let number): return isWithin(number)
    case .decimal(let digits): return Double(digits).map(isWithin) ?? false
    default: return true
    }
  }

  private func isWithin(_ number: Double) -> Bool {
    number >= limits.least ?? -.infinity && number <= limits.most ?? .infinity
  }

  private func made(_ object: inout MadeObject) -> AttributeValue {
    switch filling {
    case .nothing: return .null
    case .flag(let percent): return .boolean(object.random.chance(percent))
    case .whole(let topic):
      return .integer(topic.whole(using: &object.random))
    case .real(let topic): return .double(real(topic.number(using: &object.random), topic))
    case .decimal(let topic):
      return .decimal(Self.decimal(topic.number(using: &object.random)))
    case .text(let maker):
      let text = maker.text(object.person, using: &object.random)
      let stretched = lengths.isEmpty ? text : stretched(text, &object)
      return .string(isFree ? stretched : FittedText.fit(stretched, limits))
    case .pattern(let samplers):
      return samplers.first?.text(using: &object.random).map { .string($0) }
        // What must have a value has one, if not by its rule.
        ?? (isOptional ? .null : .string(object.random.pick(SeedWords.words)))
    case .moment(let topic):
      let date = date(topic, &object)
      return .date(isFree ? date : Self.bounded(date, limits))
    case .identifier: return .uuid(object.random.uuid())
    case .link:
      return .uri(TextMaker(topic: .link).text(object.person, using: &object.random))
    case .bytes(let topic): return .bytes(topic.bytes(object.ordinal, using: &object.random))
    case .choice(let values):
      return values.isEmpty ? .null : values[object.random.below(values.count)]
    }
  }

  private func date(_ topic: DateTopic, _ object: inout MadeObject) -> Double {
    if let dates {
      let width = dates.upperBound - dates.lowerBound
      return (dates.lowerBound + width * object.random.unit()).rounded(.down)
    }
    return switch topic {
    // 1945 to 2010.
    case .birth: -1_767_225_600 + Double(object.random.below(65 * 365)) * 86_400
    case .created: object.created
    case .changed: object.created + Double(object.random.below(90 * 86_400))
    case .later: object.created + Double(1 + object.random.below(700)) * 86_400
    }
  }

  private static func bounded(_ seconds: Double, _ limits: ValueLimits) -> Double {
    guard limits.least != nil || limits.most != nil else { return seconds }
    let low = limits.least ?? (limits.most ?? 0) - 31_536_000
    let high = limits.most ?? low + 31_536_000
    if seconds >= low, seconds <= high { return seconds }
    let width = max(1, high - low)
    return min(high, max(low, low + abs(seconds).truncatingRemainder(dividingBy: width)))
  }

  func real(_ number: Double, _ topic: NumberTopic) -> Double {
    let factor = [1.0, 10, 100, 1000, 10_000, 100_000, 1_000_000][min(6, max(0, topic.digits))]
    let rounded = (number * factor).rounded() / factor
    let value = topic.range.contains(rounded) ? rounded : number
    return isFloat ? Double(Float(value)) : value
  }

  static func decimal(_ number: Double) -> String {
    let cents = Int64(exactly: (number * 100).rounded()) ?? 0
    let fraction = cents.magnitude % 100
    let text = "\(cents < 0 ? "-" : "")\(cents.magnitude / 100).\(fraction / 10)\(fraction % 10)"
    return text
  }

  /// A text of a length that another store's texts have.
  private func stretched(_ text: String, _ object: inout MadeObject) -> String {
    let length = lengths[object.random.below(lengths.count)]
    var text = text
    while text.utf16.count < length {
      text +=
        " "
        + (length > 200
          ? object.random.pick(SeedWords.sentences) : object.random.pick(SeedWords.words))
    }
    var cut = limits
    cut.longest = min(length, limits.longest ?? length)
    return FittedText.fit(text, cut)
  }
}

/// Values that differ from object to object.
extension ValueMaker {
  /// How many different values there are; `nil` where there are more than objects.
  package var capacity: Int? {
    switch filling {
    case .choice(let values): return values.count
    case .pattern(let samplers):
      return samplers.first.map { Int(clamping: $0.count) }
    case .flag: return 2
    case .whole:
      let range = wholeRange
      let (width, overflow) = range.upperBound.subtractingReportingOverflow(range.lowerBound)
      return overflow || width > 1 << 40 ? nil : Int(width) + 1
    case .text:
      guard let longest = limits.longest else { return nil }
      let room =
        longest - limits.prefix.utf16.count - limits.suffix.utf16.count
        - limits.infix.utf16.count
      guard room < 8 else { return nil }
      return (0..<max(0, room)).reduce(1) { product, _ in product * 36 }
    case .nothing: return 0
    default: return nil
    }
  }

  private var wholeRange: ClosedRange<Int64> {
    let all = attribute.type.wholeNumbers ?? -(1 << 52)...(1 << 52)
    let low = limits.least.flatMap { Int64(exactly: $0.rounded(.up)) } ?? all.lowerBound
    let high = limits.most.flatMap { Int64(exactly: $0.rounded(.down)) } ?? all.upperBound
    return max(low, all.lowerBound)...max(low, all.lowerBound, min(high, all.upperBound))
  }

  /// The value of a number, another for each; NULL for one beyond what there is.
  func numbered(_ number: Int, _ object: inout MadeObject) -> AttributeValue {
    if let capacity, number >= capacity { return .null }
    switch filling {
    case .nothing: return .null
    case .choice(let values): return values[number]
    case .flag: return .boolean(number == 1)
    case .pattern(let samplers):
      guard let sampler = samplers.first else { return .null }
      let shuffle = Shuffle(Int(clamping: sampler.count), seed: 0x5EED)
      return sampler.text(numbered: UInt64(shuffle.place(of: number))).map { .string($0) } ?? .null
    case .whole(let topic):
      // From where such numbers begin, and where that does not reach, from the smallest.
      let range = wholeRange
      let start = max(range.lowerBound, Int64(exactly: topic.range.lowerBound.rounded(.up)) ?? 0)
      let (value, overflow) = start.addingReportingOverflow(Int64(number))
      if !overflow, value <= range.upperBound { return .integer(value) }
      return .integer(range.lowerBound &+ Int64(number) &- (range.upperBound &- start &+ 1))
    case .real(let topic):
      return .double(spread(number, topic.range))
    case .decimal(let topic):
      guard limits.least != nil || limits.most != nil else { return .decimal("\(number + 1).25") }
      return .decimal(spread(number, topic.range).description)
    case .text(let maker): return .string(text(maker, number, &object))
    case .moment(let topic):
      guard limits.least == nil, limits.most == nil else {
        let low = limits.least ?? (limits.most ?? 0) - 31_536_000
        return .date(spread(number, low...(limits.most ?? low + 31_536_000)))
      }
      let start = topic == .birth ? -1_767_225_600.0 : 567_993_600
      return .date(start + Double(number) * 97)
    case .identifier: return .uuid(object.random.uuid())
    case .link:
      return .uri(
        TextMaker(topic: .link).text(object.person, using: &object.random, number: number))
    case .bytes(let topic):
      return .bytes(topic.bytes(numbered: number, using: &object.random))
    }
  }

  /// As many places as a Float can distinguish.
  private func spread(_ number: Int, _ range: ClosedRange<Double>) -> Double {
    let isBounded = limits.least != nil || limits.most != nil
    guard isBounded else { return Double(number) + (attribute.type == .float ? 0 : 0.25) }
    let width = range.upperBound - range.lowerBound
    return range.lowerBound + width * Double(number) / Double(1 << 24)
  }

  private func text(_ maker: TextMaker, _ number: Int, _ object: inout MadeObject) -> String {
    let plain = maker.text(object.person, using: &object.random, number: number + 1)
    guard
      limits.shortest > 0 || limits.longest != nil || !limits.prefix.isEmpty
        || !limits.suffix.isEmpty || !limits.infix.isEmpty
    else { return plain }
    if isSound(.string(plain)) { return plain }
    // Its number is what must not be cut off.
    let digits = String(number, radix: 36, uppercase: true)
    let room =
      (limits.longest ?? 1000) - limits.prefix.utf16.count - limits.suffix.utf16.count
      - limits.infix.utf16.count
    let base = maker.text(object.person, using: &object.random)
    return room < digits.utf8.count + 3
      ? FittedText.fit(
        "", limits,
        mark: String(repeating: "0", count: max(0, min(room, 12) - digits.utf8.count)) + digits)
      : FittedText.fit(base, limits, mark: "-" + digits)
  }
}
