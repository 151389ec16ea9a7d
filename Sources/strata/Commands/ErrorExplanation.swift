import JSON
import ManagedStore
import Migration

/// What an error means, as a person or a program reads it.
struct ErrorExplanation {
  let report: ErrorReport

  /// - Returns: no, where no code was found or one of them is unknown to the catalogue.
  func tell(asJSON: Bool, _ console: Console) -> CommandStatus {
    if asJSON { console.json(write) } else { print(console) }
    let isKnown = report.entries.contains { $0.meaning != nil }
    return isKnown || (report.entries.isEmpty && !report.hashes.isEmpty) ? .done : .no
  }

  private func print(_ console: Console) {
    if report.entries.isEmpty { console.line("No error code was found in the text.") }
    for entry in report.entries {
      let name = entry.meaning?.name.map { " \($0)" } ?? ""
      console.line("\(entry.domain ?? "unknown domain") \(entry.code)\(name)")
      guard let meaning = entry.meaning else {
        console.line("  This code is none of Core Data's that strata knows.")
        continue
      }
      console.line("  " + meaning.meaning)
      console.line("  Usual cause: " + meaning.cause)
      console.line("  What to do: " + meaning.advice)
    }
    for reason in report.reasons { console.line("reason: \(reason)") }
    if let entity = report.entity { console.line("entity: \(entity)") }
    if let property = report.property { console.line("property: \(property)") }
    if !report.hashes.isEmpty {
      console.line(
        "The text holds the version hashes of \(report.hashes.count) entities: strata find-model --log FILE PATH… finds the model by them."
      )
    }
  }

  private func write(_ json: inout JSONWriter) {
    json.objects("errors", report.entries) { entry in
      [
        "code": entry.code, "domain": entry.domain, "name": entry.meaning?.name,
        "meaning": entry.meaning?.meaning, "cause": entry.meaning?.cause,
        "advice": entry.meaning?.advice,
      ]
    }
    json.fields(["reasons": report.reasons, "entity": report.entity, "property": report.property])
    json.object("hashes") { json in
      for (name, pattern) in report.hashes.sorted(by: { $0.key < $1.key }) {
        json.field(name, pattern.text)
      }
    }
  }
}
