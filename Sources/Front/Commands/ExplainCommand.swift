import Files
import JSON
import ManagedModel
import ManagedStore
import Migration
import ModelSearch
import ModelWriting
import Reports
import SwiftModels

/// `strata explain`: why a store does not open with a model, or what an error means.
package enum ExplainCommand {
  private static let store = Argument(optional: "STORE", .store)
  private static let model = Argument(optional: "MODEL", .model)
  private static let error = Option(
    "error", "TEXT",
    "explain errors instead: a code, sentences, a pasted log, or a file (- is standard input)")
  package static let command = Command(
    "explain", .compare, "explains why a store does not open with a model, or what an error means",
    arguments: [store, model], options: [error, Option.json], details: help,
    example: "strata explain Recipes.sqlite Recipes.xcdatamodeld",
    statuses: "1 if the store does not open with the model, or no error in the text is known",
    run: run)

  /// What `--help` says about errors.
  private static let help = """
    With --error, each error in the text is explained once, in order: what it means and what helps. An error
    is found by its code, in any language ("(Cocoa-Fehler 134100.)", "错误 134100"), or by what Core Data,
    SwiftData, CloudKit or SQLite says. With a STORE, or a model in its place,
    names of columns are explained by the model: ZUSER.ZID as User.id.
    """

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    let (store, model) = (arguments[store], arguments[model])
    if let text = arguments[error] {
      guard model == nil else {
        throw CoreDataError(
          .usage, "--error takes a store or a model for its names, not both",
          hint: "strata explain STORE --error 'UNIQUE constraint failed: ZUSER.ZID'")
      }
      let words = try store.map(Self.words)
      let report = ErrorReport(try Self.errorText(text))
      return ErrorExplanation(
        report: report, words: words?.words, store: words?.isStore == true ? store : nil
      ).tell(
        asJSON: arguments[.json], console)
    }
    guard let store, let model else {
      throw CoreDataError(
        .usage, store == nil ? "STORE is missing" : "MODEL is missing",
        hint: "strata explain STORE MODEL, or strata explain --error CODE")
    }
    return try Facts(store: store, model: model)
      .tell(asJSON: arguments[.json], console)
  }

  /// The error itself, the file that holds it, or what standard input gives.
  private static func errorText(_ text: String) throws -> String {
    let isPath = text == "-" || text.utf8.count < 4096 && FileSystem.isFile(text)
    return isPath ? try InputText.text(of: text) : text
  }

  /// What a store's or a model's tables are called, and which of the two it is.
  private static func words(_ path: String) throws -> (words: TableWords, isStore: Bool) {
    let reference = ModelReference(path)
    if reference.version == nil, FileSystem.isFile(path), let store = try? StoreOpening.open(path) {
      return (TableWords(store), true)
    }
    return (TableWords(try reference.load().model), false)
  }

  private struct Facts {
    let store: Store
    let model: ModelReference.Loaded
    private(set) var explanation: CompatibilityExplanation
    /// The known version with the most equal hashes, and what makes it another than the store's.
    let nearest: (name: String, fit: Compatibility, changes: [Change])?
    /// Where the versions are declared, where they come from Swift source.
    let source: SourceModels?
    /// The migration plan with stages that knows no version of the store: SwiftData ends with 134504.
    let unknownTo: SourcePlan?

    /// A change that moves a hash.
    struct Change {
      let entity: String
      let change: PropertyChange
    }

    init(store path: String, model text: String) throws {
      let reference = ModelReference(text)
      model = try reference.load()
      store = try StoreOpening.open(path)
      let hashes = store.metadata.versionHashes
      var made = store.modelMatches ? store.model : nil
      let bundle = try? ModelBundle(readingFrom: reference.path)
      if made == nil { made = try? bundle?.versions(matching: hashes).first?.model }
      explanation = CompatibilityExplanation(
        hashes: hashes, source: made, model: model.model, of: store.configuration,
        isMirrored: try store.cloudKit() != nil)
      source = try? SwiftSources.models(at: reference.path)
      let plan = source?.plan.flatMap { $0.isStaged ? $0 : nil }
      // Stages are found by the versions of the plan alone.
      let versions = bundle?.versions.filter { plan?.versions.contains($0.name) ?? true }
      let fits = versions?.compactMap { version in
        (try? version.model).map { model in
          (
            name: version.name, model: model,
            fit: Compatibility(storeHashes: hashes, model: model)
          )
        }
      }
      // Where no hash is equal, the one with the most entities of the store.
      let best = fits?.filter { !$0.fit.matching.isEmpty || !$0.fit.differing.isEmpty }.max {
        ($0.fit.likeness, $0.fit.differing.count) < ($1.fit.likeness, $1.fit.differing.count)
      }
      nearest = best.map { best in
        (best.name, best.fit, best.fit.isCompatible ? [] : Self.changes(from: made, to: best.model))
      }
      unknownTo = nearest?.fit.isCompatible == true || explanation.isCompatible ? nil : plan
      if unknownTo == nil, let made { explanation.ask(store, source: made, model: model.model) }
    }

    private static func changes(from made: Model?, to model: Model) -> [Change] {
      guard let made else { return [] }
      return ModelDifference(from: made, to: model).entities.filter(\.isHashMoved).flatMap {
        entity in
        entity.changes.filter(\.movesHash).map { Change(entity: entity.name, change: $0) }
      }
    }

    /// Where a version declares an entity or a property; `nil` for what is no Swift source.
    private func place(
      of change: PropertyChange, in entity: String, _ version: String
    )
      -> SourcePlace?
    {
      let declared = source?.version(named: version)
      let name = change.property.map { String($0.prefix { $0 != "." }) }
      return declared?.place(of: entity, property: name) ?? declared?.place(of: entity)
        ?? declared?.place
    }

    func tell(asJSON: Bool, _ console: Console) -> CommandStatus {
      if asJSON { console.json(write) } else { print(console) }
      console.warn(model.model.warnings)
      return console.finish(
        store, explanation.isCompatible && explanation.isCarried != false ? .done : .no)
    }

    private func print(_ console: Console) {
      if explanation.isCompatible {
        console.line(
          (explanation.isCarried == false
            ? "\(model.name) has the store's version hashes, but not all of the store opens with it"
            : "The store opens with \(model.name)")
            + (explanation.configuration.map { ", in its configuration “\($0)”" } ?? "")
            + (explanation.isCarried == false ? ":" : "."))
        tellChecks(console)
      } else {
        console.line(
          "The store does not open with \(model.name): Core Data would report 134100, the model is not the one that made the store."
        )
        if let plan = unknownTo {
          console.line(
            "The migration plan \(plan.name) has stages, and the store has none of its versions: SwiftData ends with 134504, “Cannot use staged migration with an unknown model version.”"
          )
        }
        for reason in explanation.reasons {
          switch reason.problem {
          case .missingInStore:
            console.line("+ \(reason.entity): the store does not have this entity")
          case .missingInModel:
            console.line("− \(reason.entity): the model does not have this entity")
          case .differing: console.line("~ \(reason.entity): its hash differs")
          }
          for change in reason.changes {
            let place = place(of: change, in: reason.entity, model.name).map { " (\($0))" }
            console.line("    \(change.description)" + (place ?? ""))
          }
        }
        let fitting = explanation.compatibility.matching.count
        console.line("\(fitting) of \(fitting + explanation.reasons.count) entities fit.")
        tellInference(console)
        if let nearest {
          console.line(
            nearest.fit.isCompatible
              ? "The store has the version “\(nearest.name)”."
              : "The nearest version is “\(nearest.name)”: \(nearest.fit.matching.count) of \(nearest.fit.count) entities fit."
          )
          // What is asked for was reported above.
          if nearest.name != model.name {
            for one in nearest.changes {
              let place = place(of: one.change, in: one.entity, nearest.name).map { " (\($0))" }
              console.line("    \(one.entity): \(one.change.description)" + (place ?? ""))
            }
          }
        }
      }
      if let deferral = store.deferral { console.line("· " + deferral) }
      for (entity, reason) in explanation.unverified.sorted(by: { $0.key < $1.key }) {
        console.note("! \(entity): \(reason)")
      }
    }

    private func tellInference(_ console: Console) {
      // With stages nothing is inferred.
      guard unknownTo == nil else { return }
      switch explanation.inference {
      case .notNeeded: break
      case .possible:
        console.line(
          (explanation.isCarried == false
            ? "Lightweight migration \(PlanVerdict.cannot) the store"
            : "Lightweight migration \(PlanVerdict.can) the store")
            + ": " + ShellText.command("plan", store.path, "--to", model.path))
        tellChecks(console)
        for caveat in explanation.caveats { console.line("  " + caveat) }
      case .refused(let error):
        console.line(
          error.code == nil
            ? "strata refuses to migrate: \(error.description)"
            : "Lightweight migration refuses: \(error.description)")
        if let hint = error.typedHint { console.line(hint) }
        for refusal in explanation.refusals.dropFirst() {
          console.line("It also refuses \(refusal.reasonAtPlace)")
          if let hint = refusal.typedHint { console.line(hint) }
        }
      case .unknown:
        console.line(
          "The store's own model is not known, so what changed cannot be shown: \(ShellText.command("find-model", store.path)) PATH… searches for it."
        )
      }
    }

    /// What a plan says of the store.
    private func tellChecks(_ console: Console) {
      if let refusal = explanation.refusal {
        console.line("  " + refusal.description)
        if let hint = refusal.typedHint { console.line("  " + hint) }
      }
      console.report(Report([Report.Section(explanation.checks.flatMap(\.lines))]))
    }

    private func write(_ json: inout JSONWriter) {
      json.field("compatible", explanation.isCompatible)
      json.field(
        "code",
        explanation.isCompatible
          ? nil
          : unknownTo == nil
            ? CoreDataError.Code.persistentStoreIncompatibleVersionHash
            : .managedObjectModelReferenceNotFound)
      json.field("configuration", explanation.configuration)
      json.field("model", model.name)
      json.field("matching", explanation.compatibility.matching)
      json.objects("entities", explanation.reasons) { json, reason in
        json.fields([
          "name": reason.entity, "problem": reason.problem.rawValue,
          "storeHash": reason.storeHash?.hex, "modelHash": reason.modelHash?.hex,
        ])
        json.objects("changes", reason.changes) {
          ["property": $0.property, "description": $0.description]
        }
      }
      json.object("inference") { json in
        let (possible, refusal): (Bool?, CoreDataError?) =
          switch explanation.inference {
          case .possible where unknownTo != nil: (false, nil)
          case .notNeeded, .possible: (explanation.isCarried, explanation.refusal)
          case .refused(let error): (false, error)
          case .unknown: (nil, nil)
          }
        json.field("possible", possible)
        json.object("refusal", refusal) { json, error in
          json.fields([
            "code": error.code ?? CoreDataError.Code.inferredMappingModel, "message": error.message,
            "entity": error.entity, "property": error.property, "hint": error.typedHint,
          ])
        }
        json.objects("refusals", explanation.refusals) { $0.fields(of: $1) }
        json.objects("checks", explanation.checks) {
          [
            "entity": $0.entity, "property": $0.property, "rows": $0.rows, "message": $0.message,
            "code": $0.code, "warning": $0.isWarning, "hint": $0.typedHint,
          ]
        }
        json.field("caveats", explanation.caveats)
      }
      json.field("notes", [store.deferral].compactMap { $0 })
      json.object("nearest", nearest) { json, nearest in
        json.fields([
          "name": nearest.name, "matching": nearest.fit.matching.count,
          "entities": nearest.fit.count,
        ])
        json.objects("changes", nearest.changes) { json, one in
          let place = place(of: one.change, in: one.entity, nearest.name)
          json.fields([
            "entity": one.entity, "property": one.change.property,
            "description": one.change.description, "path": place?.path, "line": place?.line,
          ])
        }
      }
    }
  }
}
