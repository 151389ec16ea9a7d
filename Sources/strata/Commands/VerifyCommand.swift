import ManagedModel
import ManagedStore
import Migration

/// `strata verify`: compares a store with what became of it, object by object.
enum VerifyCommand {
  /// What a comparison of two stores found.
  struct Findings: Sendable, Equatable {
    struct Difference: Sendable, Equatable {
      /// Entity of the destination, or of the source for objects that are gone.
      var entity: String
      var property: String?
      /// `nil` where it is about the entity as a whole.
      var object: ObjectID?
      var before: String?
      var after: String?
      /// What differs, as a clause.
      var message: String
    }

    /// The first of them.
    var differences: [Difference]
    /// All there are.
    var total: Int
    var entities: [MigrationReceipt.EntityCount]
    /// Links in the result, by `Entity.relationship`.
    var edges: [String: Int]
    /// What was compared, and how often.
    var compared: [MigrationReceipt.Verified]
  }

  typealias Compare = (
    _ before: Store, _ after: Store, _ mapping: MappingModel
  ) throws -> Findings

  static func run(
    _ arguments: Arguments, _ console: Console, compare: Compare
  ) throws -> CommandStatus {
    let request = try PlanCommand.request(arguments)
    let (before, mapping) = try request.mapping(for: arguments[0])
    let after = try Store(path: arguments[1], model: request.destination.model)
    guard after.modelMatches else {
      throw CoreDataError(
        .incompatible, code: 134100, "the store is not of the model \(request.destination.name)",
        path: arguments[1], hint: "strata explain \(arguments[1]) \(request.bundle) tells why.")
    }
    let findings = try compare(before, after, mapping)
    if arguments.flag("json") {
      console.json { write(findings, to: &$0) }
    } else {
      print(findings, arguments[0], arguments[1], to: console)
    }
    return findings.total == 0 ? .done : .no
  }

  private static func print(
    _ findings: Findings, _ before: String, _ after: String, to console: Console
  ) {
    console.line("\(before) → \(after)")
    ReceiptText.print(findings.entities, edges: findings.edges, to: console)
    for compared in findings.compared { console.line("· \(compared.what): \(compared.count)") }
    for difference in findings.differences {
      let place = difference.object?.description ?? difference.entity
      let property = difference.property.map { "." + $0 } ?? ""
      let values =
        difference.before == nil && difference.after == nil
        ? "" : ": \(difference.before ?? "NULL") → \(difference.after ?? "NULL")"
      console.line("✗ \(place)\(property): \(difference.message)\(values)")
    }
    let more = findings.total - findings.differences.count
    if more > 0 { console.line("… and \(more) more") }
    console.line(
      findings.total == 0
        ? "✓ every object that was compared is as it must be"
        : "\(findings.total) difference\(findings.total == 1 ? "" : "s")")
  }

  private static func write(_ findings: Findings, to json: inout JSONWriter) {
    json.key("same")
    json.bool(findings.total == 0)
    json.key("total")
    json.number(findings.total)
    json.key("differences")
    json.array { json in
      for difference in findings.differences {
        json.object { json in
          for (key, value) in [
            ("entity", difference.entity), ("property", difference.property),
            ("object", difference.object?.description), ("before", difference.before),
            ("after", difference.after), ("message", difference.message),
          ] {
            json.key(key)
            json.string(value)
          }
        }
      }
    }
    json.counts(findings.entities, edges: findings.edges)
    json.key("compared")
    json.numbers(findings.compared.map { ($0.what, $0.count) })
  }
}
