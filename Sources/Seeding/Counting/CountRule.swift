import ManagedModel

/// That there are not too many objects of some entities for those of others.
struct CountRule: Sendable {
  /// `factor` times the objects of `fewer` are not more than `times` times those of `more` and `extra`.
  var fewer: [String]
  var factor = 1
  var more: [String] = []
  var times = 1
  var extra = 0

  private static func sum(_ entities: [String], _ counts: [String: Int]) -> Int {
    entities.reduce(0) { $0 + (counts[$1] ?? 0) }
  }

  private static func product(_ one: Int, _ other: Int) -> Int {
    let (product, overflow) = one.multipliedReportingOverflow(by: other)
    return overflow ? .max / 4 : min(product, .max / 4)
  }

  func holds(_ counts: [String: Int]) -> Bool {
    Self.product(factor, Self.sum(fewer, counts)) <= room(counts)
  }

  private func room(_ counts: [String: Int]) -> Int {
    Self.product(times, Self.sum(more, counts)) + extra
  }

  /// Takes away of the first, at least one of each staying, and adds to the others what is missing then,
  /// up to a limit: a model may ask for more than any disk holds.
  func mend(_ counts: inout [String: Int], limit: Int) {
    let present = Self.sum(fewer, counts)
    let allowed = room(counts) / max(1, factor)
    if present > allowed {
      for entity in fewer {
        let count = counts[entity] ?? 0
        guard count > 1 else { continue }
        let share = Double(allowed) / Double(max(1, present))
        counts[entity] = max(1, Int(Double(count) * share))
      }
    }
    guard !holds(counts), let grown = more.first else { return }
    let missing = Self.product(factor, Self.sum(fewer, counts)) - room(counts)
    let added = (missing + times - 1) / max(1, times)
    counts[grown] = max(counts[grown] ?? 0, min(limit, (counts[grown] ?? 0) + added))
  }
}

extension LinkPair {
  /// What the relationships ask of the numbers of objects.
  var countRules: [CountRule] {
    var rules: [CountRule] = []
    switch form {
    case .child:
      if to.least > 0 {
        rules.append(CountRule(fewer: to.members, factor: to.least, more: from.members))
      }
      if from.isMandatory {
        rules.append(
          CountRule(fewer: from.members, more: to.members, times: mostChildren ?? 1_000_000_000))
      }
    case .oneToOne:
      if from.isMandatory { rules.append(CountRule(fewer: from.members, more: to.members)) }
      if to.isMandatory { rules.append(CountRule(fewer: to.members, more: from.members)) }
    case .manyToMany:
      if from.least > 0, let most = to.most {
        rules.append(
          CountRule(fewer: from.members, factor: from.least, more: to.members, times: most))
      }
      if to.least > 0, let most = from.most {
        rules.append(
          CountRule(fewer: to.members, factor: to.least, more: from.members, times: most))
      }
      if from.least > 1 {
        rules.append(CountRule(fewer: [], more: to.members, extra: -from.least))
      }
      if to.least > 1 { rules.append(CountRule(fewer: [], more: from.members, extra: -to.least)) }
    case .reflexiveOne: break
    case .reflexiveMany:
      if from.least > 1 {
        rules.append(CountRule(fewer: [], more: from.members, extra: -from.least - 1))
      }
    }
    return rules
  }
}
