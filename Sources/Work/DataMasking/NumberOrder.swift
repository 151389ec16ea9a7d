import ManagedModel
import SQLite

/// Replaces numbers by others of the same magnitude in the same order.
///
/// All numbers that a store has of a kind are collected first. Those between two bounds (powers of ten, limits of
/// types, values that a model's rules name) become as many random ones between the same bounds, the smallest the
/// smallest and so on. Where so many of the possible numbers occur that order leaves no room, some stay.
struct NumberOrder {
  private var values: [Int64] = []
  private var replacements: [Int64] = []
  private var unsorted = 0
  /// Each begins an interval that no number leaves.
  private var starts: [Int64]

  /// - Parameter starts: least numbers of the intervals.
  init(starts: [Int64]) { self.starts = Self.sorted(starts + [.min]) }

  /// Notes a number that occurs.
  mutating func add(_ value: Int64) {
    values.append(value)
    unsorted += 1
    if unsorted > 1 << 22 { sort() }
  }

  private mutating func sort() {
    values = Self.sorted(values)
    unsorted = 0
  }

  private static func sorted(_ numbers: [Int64]) -> [Int64] {
    var result: [Int64] = []
    for number in numbers.sorted() where result.last != number { result.append(number) }
    return result
  }

  /// Chooses the replacements.
  ///
  /// - Parameters:
  ///   - label: what kind of numbers it is.
  ///   - steps: the numbers that may stand in an interval, where these are fewer: `nil` for all.
  mutating func choose(_ hash: KeyedHash, label: String, steps: (Interval) -> Steps? = { _ in nil })
  {
    sort()
    replacements = values
    var first = 0
    for (index, start) in starts.enumerated() {
      let last = index + 1 < starts.count ? starts[index + 1] - 1 : Int64.max
      var end = first
      while end < values.count, values[end] <= last { end += 1 }
      guard end > first else { continue }
      defer { first = end }
      let own = Array(values[first..<end])
      var stream = KeyedStream(hash, Array("\(label) \(start)".utf8))
      let chosen: [Int64]
      if let steps = steps(Interval(values: own, range: start...last)) {
        chosen = Self.increasing(steps.values, in: steps.range, &stream).map(steps.number)
      } else {
        chosen = Self.increasing(own, in: start...last, &stream)
      }
      replacements.replaceSubrange(first..<end, with: chosen)
    }
  }

  /// Numbers between two bounds.
  struct Interval {
    let values: [Int64]
    let range: ClosedRange<Int64>
  }

  /// Numbers between two bounds on a coarser scale, such as whole cents.
  struct Steps {
    let values: [Int64]
    let range: ClosedRange<Int64>
    let number: (Int64) -> Int64
  }

  /// The replacement of a number; `nil` for one that was not noted.
  func replaced(_ value: Int64) -> Int64? {
    var (low, high) = (0, values.count)
    while low < high {
      let middle = (low + high) / 2
      if values[middle] < value { low = middle + 1 } else { high = middle }
    }
    return low < values.count && values[low] == value ? replacements[low] : nil
  }

  /// As many numbers in a range, in ascending order, none of them equal to the one in its place if that can be.
  static func increasing(
    _ values: [Int64], in range: ClosedRange<Int64>, _ stream: inout KeyedStream
  ) -> [Int64] {
    let size = UInt64(bitPattern: range.upperBound &- range.lowerBound)
    guard UInt64(values.count) <= size else { return values }
    var best = values
    var fewest = values.count
    for _ in 0..<32 where fewest > 0 {
      let drawn = moved(draw(values.count, in: range, &stream), besides: values, in: range)
      let same = zip(values, drawn).count { $0 == $1 }
      if same < fewest { (best, fewest) = (drawn, same) }
    }
    return fewest == 0 ? best : shifted(values, in: range) ?? best
  }

  /// So many random numbers of a range, in ascending order, all different.
  private static func draw(
    _ count: Int, in range: ClosedRange<Int64>, _ stream: inout KeyedStream
  ) -> [Int64] {
    let last = UInt64(bitPattern: range.upperBound &- range.lowerBound)
    func number(_ offset: UInt64) -> Int64 {
      range.lowerBound &+ Int64(bitPattern: offset)
    }
    if UInt64(count) > last / 3 {
      var result: [Int64] = []
      result.reserveCapacity(count)
      var offset: UInt64 = 0
      while result.count < count {
        let left = last - offset + 1
        if stream.next() % left < UInt64(count - result.count) { result.append(number(offset)) }
        offset += 1
      }
      return result
    }
    var drawn: [Int64] = []
    while drawn.count < count {
      for _ in drawn.count..<count { drawn.append(number(stream.next() % (last + 1))) }
      drawn = sorted(drawn)
    }
    return drawn
  }

  /// The same, with numbers that are as they were moved by one where there is room.
  private static func moved(
    _ drawn: [Int64], besides values: [Int64], in range: ClosedRange<Int64>
  ) -> [Int64] {
    var result = drawn
    for index in result.indices where result[index] == values[index] {
      let before = index > 0 ? result[index - 1] : nil
      let after = index + 1 < result.count ? result[index + 1] : nil
      if result[index] < range.upperBound, after.map({ result[index] + 1 < $0 }) ?? true {
        result[index] += 1
      } else if result[index] > range.lowerBound, before.map({ result[index] - 1 > $0 }) ?? true {
        result[index] -= 1
      }
    }
    return result
  }

  /// All moved by one, away from what is free; `nil` where nothing that is free allows it.
  private static func shifted(_ values: [Int64], in range: ClosedRange<Int64>) -> [Int64]? {
    guard let first = values.first, let last = values.last else { return nil }
    if first > range.lowerBound { return values.map { $0 - 1 } }
    if last < range.upperBound { return values.map { $0 + 1 } }
    guard let gap = values.indices.dropFirst().first(where: { values[$0] - values[$0 - 1] > 2 })
    else { return nil }
    return values[..<gap].map { $0 + 1 } + values[gap...].map { $0 - 1 }
  }
}

/// The kinds of numbers of a store, each in its order.
package struct NumberOrders {
  /// Kinds whose values are compared with each other.
  package enum Kind: String, CaseIterable {
    case integer, double, float, decimal, date
  }

  private var orders: [Kind: NumberOrder] = [:]

  /// Numbers that a model names.
  package struct Named {
    /// Those of predicates, and defaults: they stay, and nothing else becomes one.
    package var constants: [Double]
    /// Nothing below one becomes one or greater, nor the other way round.
    package var minima: [Double]
    /// Nothing above one becomes one or less, nor the other way round.
    package var maxima: [Double]

    package init(
      constants: [Double] = [], minima: [Double] = [], maxima: [Double] = []
    ) {
      (self.constants, self.minima, self.maxima) = (constants, minima, maxima)
    }
  }

  package init(_ named: [Kind: Named]) {
    for kind in Kind.allCases {
      let own = named[kind] ?? Named()
      orders[kind] = NumberOrder(
        starts: kind == .integer ? Self.integerStarts(own) : Self.realStarts(kind, own))
    }
  }

  private static func integerStarts(_ named: Named) -> [Int64] {
    var starts: [Int64] = [0, 1]
    var power: Int64 = 1
    while power <= .max / 10 {
      power *= 10
      starts += [power, 1 - power]
    }
    for bits in [15, 31] as [Int64] { starts += [1 << bits, -(1 << bits)] }
    func add(_ start: Double) { if let number = Int64(exactly: start) { starts.append(number) } }
    for constant in named.constants + named.minima { add(constant.rounded(.up)) }
    for constant in named.constants + named.maxima { add(constant.rounded(.down) + 1) }
    return starts
  }

  private static func realStarts(_ kind: Kind, _ named: Named) -> [Int64] {
    var starts: [Int64] = [0, 1]
    for exponent in -323...308 {
      let power = Double("1e\(exponent)") ?? 0
      starts += [key(power), key(-power) + 1]
    }
    starts += named.minima.map(key) + named.maxima.map { key($0) + 1 }
    var alone = named.constants + [.infinity, -.infinity]
    if kind == .date { alone += foundationDates + sensibleDates }
    for constant in alone where !constant.isNaN {
      starts += [key(constant), key(constant) &+ 1]
    }
    return starts
  }

  /// Date.distantPast and Date.distantFuture: not data, but a program's word for never.
  static let foundationDates: [Double] = [-63_114_076_800, 63_113_904_000]
  /// The years -9999 and 9999: dates beyond are reported.
  private static let sensibleDates = [
    CoreDataDate.sensible.lowerBound, CoreDataDate.sensible.upperBound,
  ]

  /// A number whose order is that of the reals.
  private static func key(_ value: Double) -> Int64 {
    guard value != 0 else { return 0 }
    let bits = Int64(bitPattern: value.magnitude.bitPattern)
    return value < 0 ? -bits : bits
  }

  private static func real(_ key: Int64) -> Double {
    let magnitude = Double(bitPattern: key.magnitude)
    return key < 0 ? -magnitude : magnitude
  }

  /// Notes a value that occurs.
  package mutating func add(_ value: Value, _ kind: Kind) {
    switch value {
    case .integer(let number) where kind == .integer: orders[kind]?.add(number)
    case .integer(let number): orders[Self.kind(number, kind)]?.add(Self.key(number, kind))
    case .real(let number) where kind == .integer: orders[.double]?.add(Self.key(number))
    case .real(let number): orders[kind]?.add(Self.key(number))
    default: break
    }
  }

  /// Whole numbers beyond what a Double holds stay whole.
  private static func kind(_ number: Int64, _ kind: Kind) -> Kind {
    Int64(exactly: Double(number)) == number ? kind : .integer
  }

  private static func key(_ number: Int64, _ kind: Kind) -> Int64 {
    Self.kind(number, kind) == .integer ? number : key(Double(number))
  }

  /// Chooses all replacements.
  package mutating func choose(_ hash: KeyedHash) {
    for kind in Kind.allCases {
      orders[kind]?.choose(hash, label: kind.rawValue) { interval in
        switch kind {
        case .integer: nil
        case .float: Self.floats(interval)
        case .double, .decimal, .date: Self.decimals(interval)
        }
      }
    }
  }

  /// The replacement, in the storage class that the value has.
  package func replaced(_ value: Value, _ kind: Kind) -> Value {
    switch value {
    case .integer(let number):
      let own = kind == .integer ? .integer : Self.kind(number, kind)
      guard own != .integer else {
        return orders[own]?.replaced(number).map { .integer($0) } ?? value
      }
      guard let key = orders[own]?.replaced(Self.key(Double(number))) else { return value }
      return Int64(exactly: Self.real(key)).map { .integer($0) } ?? .real(Self.real(key))
    case .real(let number):
      return orders[kind == .integer ? .double : kind]?.replaced(Self.key(number))
        .map { .real(Self.real($0)) } ?? value
    default: return value
    }
  }

  /// Values of Float attributes stay such.
  private static func floats(_ interval: NumberOrder.Interval) -> NumberOrder.Steps? {
    func float(_ key: Int64) -> Int64? {
      let number = real(key)
      guard let exact = Float(exactly: number) else { return nil }
      let bits = Int64(exact.magnitude.bitPattern)
      return exact < 0 ? -bits : bits
    }
    func number(_ step: Int64) -> Int64 {
      let magnitude = Double(Float(bitPattern: UInt32(truncatingIfNeeded: step.magnitude)))
      return key(step < 0 ? -magnitude : magnitude)
    }
    let values = interval.values.compactMap(float)
    guard values.count == interval.values.count else { return nil }
    func bound(_ key: Int64, _ step: Int64) -> Int64? {
      let most = Double(Float.greatestFiniteMagnitude)
      let nearest = Float(max(-most, min(most, real(key))))
      let bits = Int64(nearest.magnitude.bitPattern)
      let own = nearest < 0 ? -bits : bits
      let candidates = [own - step, own, own + step]
      return step > 0
        ? candidates.first { number($0) >= key } : candidates.first { number($0) <= key }
    }
    guard let low = bound(interval.range.lowerBound, 1),
      let high = bound(interval.range.upperBound, -1),
      low <= high, let first = values.first, let last = values.last, low <= first, last <= high
    else { return nil }
    return .init(values: values, range: low...high, number: number)
  }

  /// Values that have few digits behind the point go on having few.
  private static func decimals(_ interval: NumberOrder.Interval) -> NumberOrder.Steps? {
    var scale = 1.0
    let (low, high) = (real(interval.range.lowerBound), real(interval.range.upperBound))
    let largest = max(abs(low), abs(high))
    for _ in 0...6 {
      defer { scale *= 10 }
      let factor = scale
      guard largest * factor < 0x1p53 else { return nil }
      let values = interval.values.compactMap { key -> Int64? in
        let step = (real(key) * factor).rounded()
        return step / factor == real(key) ? Int64(exactly: step) : nil
      }
      guard values.count == interval.values.count else { continue }
      func number(_ step: Int64) -> Int64 { key(Double(step) / factor) }
      guard var first = Int64(exactly: (low * factor).rounded(.up)),
        var last = Int64(exactly: (high * factor).rounded(.down))
      else { return nil }
      if number(first) < interval.range.lowerBound { first += 1 }
      if number(last) > interval.range.upperBound { last -= 1 }
      guard first <= last, first <= values[0], values[values.count - 1] <= last,
        UInt64(values.count) * 2 <= UInt64(last - first) || factor >= 1_000_000
      else { continue }
      return .init(values: values, range: first...last, number: number)
    }
    return nil
  }
}
