import Files
import JSON
import ManagedModel
import ModelSearch
import Rescue

/// `strata doctor`: everything that is wrong with a store, the gravest first.
enum DoctorCommand {
  static let command = Command(
    "doctor", .rescue, "lists what is wrong with a store", arguments: [Argument.store],
    options: [Option.model, Option.json], details: help, example: "strata doctor Recipes.sqlite",
    statuses: "1 if there are errors or warnings, 4 if nothing of the store can be read",
    run: Interruption.watched(run))

  private static let help = """
    Errors (✗: objects are lost, or Core Data fails), warnings (!) and notes (·, found in healthy stores
    too) are listed, each with what was found, the first objects, what Core Data reports, and the command
    that helps.

    The file is checked first, then its -wal, Core Data's bookkeeping, and the data. If the store does not
    open, only the file and the -wal are checked. Notes alone do not change the status: it is 0.
    """

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    // Copies that an earlier run could not remove hold somebody's data.
    PrivateFolder.removeAbandoned()
    let name = arguments[.model]
    let model = try name.map { try ModelReference($0).load().model }
    console.warn(model?.warnings ?? [])
    let diagnosis = try Waiting.tell("looking for what is wrong", on: console) {
      try Diagnosis(
        of: arguments[.store], model: model, modelName: name,
        isCancelled: { Interruption.isRequested })
    }
    arguments[.json]
      ? console.json { diagnosis.write(to: &$0) } : print(diagnosis, to: console)
    guard diagnosis.isReadable else { return .unreadable }
    return diagnosis.count(.error) + diagnosis.count(.warning) == 0 ? .done : .no
  }

  private static func print(_ finding: Finding, to console: Console) {
    console.paragraph(
      "\(finding.severity.sign) \(finding.sentence) [\(finding.kind.rawValue)]", indent: 2)
    guard !finding.first.isEmpty else { return }
    console.paragraph("  first: " + finding.first.joined(separator: ", "), indent: 4)
  }

  private static func print(_ diagnosis: Diagnosis, to console: Console) {
    var rest = diagnosis.findings[...]
    while let finding = rest.first {
      // What follows from them, and what helps, is reported once for all that agree in it.
      let group = rest.prefix {
        ($0.kind, $0.severity, $0.advice, $0.command)
          == (finding.kind, finding.severity, finding.advice, finding.command)
      }
      for finding in group { print(finding, to: console) }
      if let consequence = finding.consequence {
        console.paragraph("  Core Data: " + consequence.text, indent: 4)
      }
      console.paragraph("  " + finding.advice.typed, indent: 2)
      if let command = finding.command { console.line("    " + command.typed) }
      rest = rest.dropFirst(group.count)
    }
    if !diagnosis.findings.isEmpty { console.line() }
    // Of another program's database nothing is wrong: it is no store.
    if diagnosis.refusal?.code != .persistentStoreInvalidType || diagnosis.isReadable {
      console.line(diagnosis.summary)
    }
    if let check = diagnosis.migrationChecks.first {
      let name = [check.entity, check.property].compactMap { $0 }.joined(separator: ".")
      let rest = diagnosis.migrationChecks.count - 1
      console.paragraph(
        "!",
        "strata plan refuses to migrate the store as it is: \(name): \(check.summary)"
          + (rest > 0 ? ", and \(rest) more" : ""))
    }
    if let refusal = diagnosis.refusal, !diagnosis.isReadable {
      CommandLineTool.report(refusal, asJSON: false, console)
    }
  }
}

extension Finding.Severity {
  fileprivate var sign: String {
    switch self {
    case .error: "✗"
    case .warning: "!"
    case .note: "·"
    }
  }
}

extension Diagnosis {
  /// How many there are of each severity, in a line.
  fileprivate var summary: String {
    func number(_ severity: Finding.Severity) -> String {
      NumberText.counted(count(severity), severity.rawValue)
    }
    if !isReadable { return "✗ nothing of the store can be read" }
    let rest =
      isComplete ? "" : "; the store does not open, so its objects were not checked"
    if count(.error) + count(.warning) == 0, isComplete {
      let notes = count(.note) == 0 ? "" : " (\(number(.note)))"
      return "✓ nothing is wrong\(notes)"
    }
    return Finding.Severity.allCases.filter { count($0) > 0 }.map(number).joined(separator: ", ")
      + rest
  }

  fileprivate func write(to json: inout JSONWriter) {
    json.fields([
      "path": path, "readable": isReadable, "complete": isComplete, "errors": count(.error),
      "warnings": count(.warning), "notes": count(.note),
    ])
    json.objects("findings", findings) { $1.write(to: &$0) }
    json.objects("migrationChecks", migrationChecks) {
      [
        "code": $0.code, "entity": $0.entity, "property": $0.property, "rows": $0.rows,
        "message": $0.message,
      ]
    }
    if let refusal, !isReadable { json.error(refusal) }
  }
}

extension Finding {
  fileprivate func write(to json: inout JSONWriter) {
    json.fields([
      "kind": kind.rawValue, "severity": severity.rawValue, "entity": entity,
      "property": property, "count": count, "first": first, "message": sentence,
    ])
    json.object(
      "coreData",
      consequence.map {
        [
          "domain": $0.meaning.domain.rawValue, "code": $0.meaning.code, "name": $0.meaning.name,
          "meaning": $0.meaning.meaning,
        ]
      })
    json.fields(["advice": advice.typed, "command": command?.typed])
  }
}
