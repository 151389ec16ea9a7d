import ManagedModel

/// Values that differ from object to object.
extension ValueMaker {
  /// How many different values there are; `nil` where there are more than objects.
  var capacity: Int? {
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
