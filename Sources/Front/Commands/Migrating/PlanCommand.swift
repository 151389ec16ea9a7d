import Files
import JSON
import ManagedModel
import Migration
import ModelSearch
import Reports

/// `strata plan`: what a migration would do, lose and break, found out without writing.
package enum PlanCommand {
  static let matrix = Option(
    "matrix", "show which version reaches which instead; STORE is a bundle")
  package static let command = Command(
    "plan", .migrate, "previews a migration", arguments: [Argument.store],
    options: [
      Option.to, Option.from, Option.via, Option.mapping, Option.strategy, Option.allowLoss,
      Option.allowLossFile, RecipeOutput.option, LossOutput.option, matrix, CheckReport.option,
      Option.json,
    ], details: Allowances.help, example: "strata plan Recipes.sqlite --to Recipes.xcdatamodeld",
    statuses:
      "3 if the migration would be refused and --write-recipe has not written a recipe for it",
    run: Interruption.watched(run))

  private static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    if arguments[matrix] { return try MatrixCommand.run(arguments, console) }
    let request = try MigrationArguments(arguments)
    let path = arguments[.store]
    if let recipe = try RecipeOutput(arguments, stores: [path]) {
      if let skeleton = try Waiting.tell(
        "looking at the store", on: console, { try request.skeleton(for: path) })
      {
        let losses = try LossOutput(arguments, stores: [path])
        try recipe.write(skeleton, console)
        if let losses {
          try losses.write(request.losses(for: path), of: path, console)
        }
        return .done
      }
      console.note(
        "note: nothing prevents this migration that a recipe could solve: none was written")
    }
    let losses = try LossOutput(arguments, stores: [path])
    return try CheckReport.reporting("strata plan", of: path, arguments, console) { format in
      do {
        return try plan(path, request, isJSON: arguments[.json], format, losses, console)
      } catch let error as CoreDataError {
        let refusal = try Waiting.tell("looking for all that is refused", on: console) {
          try request.refusal(of: path, after: error)
        }
        try losses?.write(refusal.plan.losses, of: path, console)
        show(refusal, path, request, isJSON: arguments[.json], format, console)
        return .refused
      }
    }
  }

  /// All that stands in the way, where no plan can be made.
  private static func show(
    _ refusal: MigrationArguments.Refusal, _ path: String, _ request: MigrationArguments,
    isJSON: Bool, _ format: CheckReport.Format?, _ console: Console
  ) {
    if let format {
      let allowed = request.options.allowedLosses
      console.write(CheckReport(refusal.plan, of: path, allowing: allowed).text(format))
    } else if isJSON {
      console.json { $0.refusedPlan(refusal.plan) }
    } else {
      console.line("to \(request.destinationText)")
      console.report(refusal.report)
    }
  }

  private static func plan(
    _ path: String, _ request: MigrationArguments, isJSON: Bool, _ format: CheckReport.Format?,
    _ losses: LossOutput?, _ console: Console
  ) throws -> CommandStatus {
    let isText = format == nil && !isJSON
    var plan = try Waiting.tell("looking at the store", on: console) { draft in
      try request.plan(
        for: path,
        outline: isText && console.isTerminal
          ? { outline in draft.show { $0.report(Report(outline.steps, isDraft: true)) } } : nil
      )
    }
    plan.notes += StoreMigration.leftovers(of: path)
    if ShownPaths.isInContainer(path), !plan.isNothingToDo {
      plan.notes.append(
        "The store is in an archive or a backup, which is never changed: migrate needs --output FILE."
      )
    }
    // Too late to be stopped by SQLite, and not too late to be asked.
    try Interruption.check()
    let unused = try request.unusedAllowances(of: plan)
    let allowed = request.options.allowedLosses
    try losses?.write(plan.losses, of: path, console)
    if let format {
      console.write(CheckReport(plan, allowing: allowed, unused: unused).text(format))
    } else {
      for warning in unused { console.note("warning: \(warning)") }
      if isJSON {
        plan.notes += unused
        console.json { $0.plan(plan, to: request.destination) }
      } else {
        console.line("to \(request.destinationText)")
        if !plan.isNothingToDo { console.report(Report(plan.steps)) }
        console.report(
          Report(
            plan, allowing: allowed, remedy: request.remedy(for: path, "gives them values")))
      }
    }
    return plan.isAcceptable(allowing: allowed) ? .done : .refused
  }
}

extension JSONWriter {
  mutating func plan(_ plan: MigrationPlan, to destination: ModelReference.Loaded) {
    if let first = plan.steps.first, let last = plan.steps.last {
      object("source") { $0.hashes(of: first.source) }
      object("destination") { json in
        json.fields(["name": destination.name, "path": destination.path])
        json.hashes(of: last.destination)
      }
    }
    objects("steps", plan.steps) { $0.step($1) }
    losses(plan.losses)
    checks(plan.checks)
    objects("obstacles", plan.obstacles) {
      ["code": $0.code, "message": $0.message, "path": $0.path, "hint": $0.typedHint]
    }
    fields([
      "strategy": plan.strategy.rawValue, "bytesNeeded": plan.bytesNeeded,
      "bytesFree": plan.bytesFree, "secondsEstimated": plan.secondsEstimated, "notes": plan.notes,
    ])
  }

  mutating func refusedPlan(_ plan: RefusedPlan) {
    error(plan.error)
    objects("refusals", plan.refusals) { $0.fields(of: $1) }
    losses(plan.losses)
    checks(plan.checks)
  }

  private mutating func checks(_ checks: [DataCheck]) {
    objects("checks", checks) { check in
      [
        "code": check.code, "warning": check.isWarning, "entity": check.entity,
        "property": check.property, "rows": check.rows, "message": check.message,
        "hint": check.typedHint, "first": check.first.map(\.description),
      ]
    }
  }

  mutating func losses(_ losses: [Loss]) {
    objects("losses", losses) { loss in
      [
        "entity": loss.entity, "property": loss.property, "values": loss.values,
        "samples": loss.samples, "suggestion": loss.suggestion, "intended": loss.isIntended,
        "misfit": loss.misfit?.kind.rawValue,
      ]
    }
  }

  private mutating func step(_ step: MigrationStep) {
    fields(["from": step.from, "to": step.to, "kind": step.mapping.kind.rawValue])
    objects("entityMappings", step.mapping.entityMappings) {
      $0.mapping($1, rows: step.rows[$1.name] ?? 0)
    }
    field("strategy", step.strategy.rawValue)
    objects("previews", step.previews) { $0.preview($1) }
  }

  private mutating func preview(_ preview: MappingPreview) {
    fields([
      "mapping": preview.mapping, "source": preview.source?.description,
      "destination": preview.destination,
    ])
    for (key, values) in [("before", preview.before), ("after", preview.after)] {
      object(key) { json in
        for property in values { json.field(property.name, property.value) }
      }
    }
  }

  private mutating func mapping(_ mapping: EntityMapping, rows: Int) {
    fields([
      "name": mapping.name, "type": mapping.kind.name, "source": mapping.source,
      "destination": mapping.destination, "condition": mapping.condition?.text,
      "distinct": mapping.distinct?.text, "policy": mapping.policy,
      "deletionIntended": mapping.isDeletionIntended,
    ])
    attributes(mapping.attributes)
    objects("relationships", mapping.relationships) { json, relationship in
      json.fields([
        "name": relationship.name, "from": relationship.source, "through": relationship.through,
      ])
      if let fetched = relationship.fetched {
        json.fields(["fetched": fetched, "condition": relationship.condition?.text])
      }
    }
    objects("children", mapping.children) { $0.child($1) }
    field("rows", rows)
  }

  private mutating func attributes(_ attributes: [AttributeMapping]) {
    objects("attributes", attributes) { attribute in
      [
        "name": attribute.name, "from": attribute.source, "default": attribute.defaultValue,
        "expression": attribute.expression?.text,
      ]
    }
  }

  private mutating func child(_ child: ChildMapping) {
    fields([
      "destination": child.destination, "relationship": child.relationship,
      "each": child.each?.text,
    ])
    attributes(child.attributes)
    objects("children", child.children) { $0.child($1) }
  }
}

/// `plan --write-recipe FILE`: the recipe that a refusal asks for.
struct RecipeOutput {
  static let option = Option(
    "write-recipe", "FILE", .file,
    "write the recipe that a refused plan needs, with the gaps marked")

  private let path: String
  private let isJSON: Bool

  /// `nil` where it was not asked for.
  ///
  /// - Throws: ``CoreDataError`` of kind usage for a place where no recipe may be written, and for a
  ///   file that is there.
  init?(_ arguments: Arguments, stores: [String]) throws {
    guard let path = arguments[Self.option] else { return nil }
    try OutputPlace.requireFree(path, for: "the recipe", besides: stores)
    self.path = path
    isJSON = arguments[.json]
  }

  /// Writes the skeleton, and shows what is to be looked at in it.
  func write(_ skeleton: RecipeSkeleton, _ console: Console) throws {
    try FileSystem.create(path, holding: Array(skeleton.text.utf8))
    let marked = skeleton.gaps.count { $0.guess == nil }
    guard !isJSON else {
      console.json { json in
        json.object("recipe") { json in
          json.fields(["path": path, "from": skeleton.from, "to": skeleton.to])
          json.objects("gaps", skeleton.gaps) {
            ["place": $0.place, "reason": $0.reason, "guess": $0.guess, "example": $0.example]
          }
          json.field("rest", skeleton.rest)
        }
      }
      return
    }
    console.line("wrote \(path), a recipe from “\(skeleton.from)” to “\(skeleton.to)”")
    for gap in skeleton.gaps {
      console.paragraph("\(gap.guess == nil ? "!" : "~") \(gap.place): \(gap.reason)", indent: 4)
      console.paragraph(
        "    "
          + (gap.guess.map { "written: \($0)" }
            ?? "FILL IN" + (gap.example.map { ", such as: \($0)" } ?? "")),
        indent: 8)
    }
    if !skeleton.rest.isEmpty { console.line("refused besides:") }
    for sentence in skeleton.rest { console.paragraph("! \(sentence)", indent: 4) }
    console.line(
      (marked == 0
        ? "Look at what was written"
        : "Fill in \(marked == 1 ? "the place" : "the \(marked) places") marked FILL IN")
        + ", then: strata plan … --mapping \(ShellText.quoted(path))")
  }
}
