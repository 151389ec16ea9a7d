import ManagedModel

/// What the validation rules of an attribute leave for its values, as far as they are understood.
package struct ValueLimits: Sendable {
  /// Bounds of a number or date.
  package var least: Double?
  package var most: Double?
  /// UTF-16 units of a text.
  var shortest = 0
  var longest: Int?
  /// The only values there are.
  var choices: [AttributeValue]?
  /// Values that are not taken.
  var excluded: [AttributeValue] = []
  var patterns: [PatternSampler] = []
  var prefix = ""
  var suffix = ""
  var infix = ""
  /// Rules that nothing here follows, as texts.
  package private(set) var ignored: [String] = []

  /// Whether there is no rule.
  package var isFree: Bool {
    least == nil && most == nil && shortest == 0 && longest == nil && choices == nil
      && patterns.isEmpty && excluded.isEmpty && prefix.isEmpty && suffix.isEmpty && infix.isEmpty
  }

  package init(_ attribute: Attribute) {
    let rules = attribute.validation
    let isText = attribute.type == .string
    for (text, isLower) in [(rules.minimum, true), (rules.maximum, false)] {
      guard let text else { continue }
      guard let bound = Double(text), bound.isFinite else {
        ignored.append(text)
        continue
      }
      bind(bound, isLower: isLower, isText: isText)
    }
    if let pattern = rules.pattern, isText { match(pattern) }
    for text in rules.predicates {
      guard let predicate = try? Predicate(format: text), follow(predicate, attribute.type) else {
        ignored.append(text)
        continue
      }
    }
    if let all = attribute.type.wholeNumbers {
      // Beyond what the type holds.
      if let bound = least, bound > Double(all.upperBound) {
        ignored.append(rules.minimum ?? "\(bound)")
        least = nil
      }
      if let bound = most, bound < Double(all.lowerBound) {
        ignored.append(rules.maximum ?? "\(bound)")
        most = nil
      }
      choices = choices?.filter {
        if case .integer(let number) = $0 { all.contains(number) } else { true }
      }
    }
    if let least, let most, least > most { contradict("\(least) … \(most)") }
    if let longest, shortest > longest { contradict("length \(shortest) … \(longest)") }
  }

  private mutating func contradict(_ rule: String) {
    ignored.append(rule)
    if least ?? 0 > most ?? 0 { (least, most) = (nil, nil) }
    if shortest > longest ?? .max { (shortest, longest) = (0, nil) }
  }

  private mutating func bind(_ bound: Double, isLower: Bool, isText: Bool) {
    guard isText else {
      if isLower { least = max(least ?? bound, bound) } else { most = min(most ?? bound, bound) }
      return
    }
    if isLower {
      shortest = max(shortest, Int(min(1e6, max(0, bound.rounded(.up)))))
    } else {
      let length = Int(min(1e9, max(0, bound.rounded(.down))))
      longest = min(longest ?? length, length)
    }
  }

  private mutating func match(_ pattern: String) {
    guard let sampler = try? PatternSampler(matching: pattern) else {
      ignored.append(pattern)
      return
    }
    patterns.append(sampler)
  }

  /// Takes a rule in; false for one that is not understood.
  private mutating func follow(_ predicate: Predicate, _ type: AttributeType) -> Bool {
    switch predicate {
    case .always(let value): return value
    case .and(let parts):
      var copy = self
      guard parts.allSatisfy({ copy.follow($0, type) }) else { return false }
      self = copy
      return true
    case .or(let parts):
      // One that can be followed will do: nothing, or the first that can.
      for part in parts {
        if case .comparison(let one) = part, one.right.bare == .constant(.null) { continue }
        var copy = self
        if copy.follow(part, type) {
          self = copy
          return true
        }
      }
      return false
    case .not(.comparison(let one)) where one.comparator == .isIn || one.comparator == .equal:
      guard one.left.isValue, let values = one.right.values(of: type) else { return false }
      excluded += values
      return true
    case .not: return false
    case .comparison(let comparison): return follow(comparison, type)
    }
  }

  private mutating func follow(_ comparison: Predicate.Comparison, _ type: AttributeType) -> Bool {
    guard comparison.quantifier == nil else { return false }
    let isLength = comparison.left.isLength
    guard isLength || comparison.left.isValue else { return false }
    if comparison.comparator == .between {
      guard case .aggregate(let bounds) = comparison.right.bare, bounds.count == 2,
        let low = bounds[0].number, let high = bounds[1].number
      else { return false }
      bind(low, isLower: true, isText: isLength)
      bind(high, isLower: false, isText: isLength)
      return isLength || type != .string
    }
    if isLength || type.isNumber || type == .date,
      let bound = comparison.right.number
    {
      // What is beyond a whole number is the next; beyond another, a hair.
      let isWhole = isLength || type.isInteger
      let hair = max(abs(bound), 1) * 1e-9
      switch comparison.comparator {
      case .greaterOrEqual: bind(bound, isLower: true, isText: isLength)
      case .greater:
        bind(isWhole ? bound.rounded(.down) + 1 : bound + hair, isLower: true, isText: isLength)
      case .lessOrEqual: bind(bound, isLower: false, isText: isLength)
      case .less:
        bind(isWhole ? bound.rounded(.up) - 1 : bound - hair, isLower: false, isText: isLength)
      case .equal where isLength:
        bind(bound, isLower: true, isText: true)
        bind(bound, isLower: false, isText: true)
      case .equal: choices = comparison.right.values(of: type)
      case .notEqual where !isLength: excluded += comparison.right.values(of: type) ?? []
      default: return false
      }
      return true
    }
    guard !isLength else { return false }
    switch comparison.comparator {
    case .isIn, .equal:
      guard let values = comparison.right.values(of: type), !values.isEmpty else { return false }
      choices = choices.map { known in known.filter(values.contains) } ?? values
    case .notEqual:
      // That there is a value is said otherwise.
      if comparison.right.bare == .constant(.null) { return true }
      guard let values = comparison.right.values(of: type) else { return false }
      excluded += values
    case .matches:
      guard comparison.options.isEmpty, let text = comparison.right.text,
        let sampler = try? PatternSampler(matching: text)
      else { return false }
      patterns.append(sampler)
    case .beginsWith:
      guard let text = comparison.right.text, prefix.isEmpty else { return false }
      prefix = text
    case .endsWith:
      guard let text = comparison.right.text, suffix.isEmpty else { return false }
      suffix = text
    case .contains:
      guard let text = comparison.right.text, infix.isEmpty else { return false }
      infix = text
    default: return false
    }
    return true
  }
}

extension Expression {
  /// The evaluated value itself.
  fileprivate var isValue: Bool {
    switch bare {
    case .selfObject, .keyPath("self", of: nil), .keyPath("SELF", of: nil): true
    default: false
    }
  }

  fileprivate var isLength: Bool {
    switch bare {
    case .keyPath("length", of: nil), .keyPath("length", of: .selfObject),
      .keyPath("self.length", of: nil), .keyPath("SELF.length", of: nil):
      true
    default: false
    }
  }

  fileprivate var number: Double? {
    guard case .constant(let constant) = bare else { return nil }
    switch constant {
    case .integer(let value): return Double(value)
    case .real(let value): return value.isFinite ? value : nil
    case .decimal(let digits): return Double(digits).flatMap { $0.isFinite ? $0 : nil }
    case .date(let seconds): return seconds.isFinite ? seconds : nil
    case .boolean(let flag): return flag ? 1 : 0
    default: return nil
    }
  }

  fileprivate var text: String? {
    if case .constant(.string(let text)) = bare { text } else { nil }
  }

  /// One constant, or those of a list, as values of a type.
  fileprivate func values(of type: AttributeType) -> [AttributeValue]? {
    switch bare {
    case .aggregate(let parts):
      let values = parts.compactMap { $0.value(of: type) }
      return values.count == parts.count ? values : nil
    case .constant(.array(let parts)):
      let values = parts.compactMap { Expression.constant($0).value(of: type) }
      return values.count == parts.count ? values : nil
    default: return value(of: type).map { [$0] }
    }
  }

  private func value(of type: AttributeType) -> AttributeValue? {
    switch type {
    case .string: return text.map { .string($0) }
    case .uri: return text.map { .uri($0) }
    case .integer16, .integer32, .integer64:
      return number.flatMap { Int64(exactly: $0) }.map { .integer($0) }
    case .boolean: return number.map { .boolean($0 != 0) }
    case .double, .float: return number.map { .double($0) }
    case .date: return number.map { .date($0) }
    case .decimal:
      if case .constant(.decimal(let digits)) = bare { return .decimal(digits) }
      if case .constant(.integer(let value)) = bare { return .decimal(String(value)) }
      return number.map { .decimal($0.description) }
    default: return nil
    }
  }
}
