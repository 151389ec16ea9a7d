import Files
import JSON
import ManagedModel
import ModelSearch
import Reports
import Rescue

/// `strata doctor`: everything that is wrong with a store, the gravest first.
package enum DoctorCommand {
  package static let command = Command(
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
    var diagnosis = try Waiting.tell("looking for what is wrong", on: console) {
      try Diagnosis(
        of: arguments[.store], model: model, modelName: name,
        isCancelled: { Interruption.isRequested })
    }
    let isAtomic = diagnosis.takeAtomicStore(at: arguments[.store], modelName: name)
    let isContained = ShownPaths.isInContainer(arguments[.store])
    if isAtomic || isContained {
      diagnosis.offer(modelName: name, isContained: isContained, isAtomic: isAtomic)
    }
    if arguments[.json] {
      console.json { diagnosis.write(to: &$0) }
    } else {
      console.report(Report(diagnosis))
      if let refusal = diagnosis.refusal, !diagnosis.isReadable {
        console.report(refusal, asJSON: false)
      }
    }
    guard diagnosis.isReadable else { return .unreadable }
    return diagnosis.count(.error) + diagnosis.count(.warning) == 0 ? .done : .no
  }
}

extension Diagnosis {
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
