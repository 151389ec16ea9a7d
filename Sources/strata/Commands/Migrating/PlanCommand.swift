import JSON
import ManagedModel
import ManagedStore
import Migration

/// `strata plan`: what a migration would do, lose and break, found out without writing.
enum PlanCommand {
  @Sendable static func run(_ arguments: Arguments, _ console: Console) throws -> CommandStatus {
    try Interruption.watching { try run(arguments, to: console) }
  }

  private static func run(_ arguments: Arguments, to console: Console) throws -> CommandStatus {
    if arguments.flag("matrix") { return try MatrixCommand.run(arguments, console) }
    let request = try MigrationArguments(arguments)
    var plan = try Waiting.tell("looking at the store", on: console) {
      try request.plan(for: arguments[0])
    }
    plan.notes += StoreMigration.leftovers(of: arguments[0])
    // Too late to be stopped by SQLite, and not too late to be asked.
    try Interruption.check()
    for note in try request.unusedAllowances(of: plan) { console.note("note: \(note)") }
    let unallowed = plan.unallowedLosses(request.options.allowedLosses)
    if arguments.flag("json") {
      console.json { $0.plan(plan) }
    } else {
      PlanText.print(plan, unallowed: unallowed, to: console)
    }
    return plan.isAcceptable(allowing: request.options.allowedLosses) ? .done : .refused
  }
}

extension JSONWriter {
  mutating func plan(_ plan: MigrationPlan) {
    if let first = plan.steps.first, let last = plan.steps.last {
      object("source") { $0.hashes(of: first.source) }
      object("destination") { $0.hashes(of: last.destination) }
    }
    array("steps") { json in for step in plan.steps { json.step(step) } }
    array("losses") { json in for loss in plan.losses { json.loss(loss) } }
    objects("checks", plan.checks) { json, check in
      json.field("code", check.code)
      json.field("warning", check.isWarning)
      json.field("entity", check.entity)
      json.field("property", check.property)
      json.field("rows", check.rows)
      json.field("message", check.message)
      json.field("hint", check.hint)
      json.field("first", check.first.map(\.description))
    }
    field("strategy", plan.strategy.rawValue)
    field("bytesNeeded", plan.bytesNeeded)
    field("bytesFree", plan.bytesFree)
    field("secondsEstimated", plan.secondsEstimated)
    field("notes", plan.notes)
  }

  mutating func loss(_ loss: Loss) {
    object { json in
      json.field("entity", loss.entity)
      json.field("property", loss.property)
      json.field("values", loss.values)
      json.field("samples", loss.samples)
      json.field("suggestion", loss.suggestion)
      json.field("intended", loss.isIntended)
    }
  }

  private mutating func step(_ step: MigrationStep) {
    object { json in
      json.field("from", step.from)
      json.field("to", step.to)
      json.field("kind", step.mapping.kind.rawValue)
      json.array("entityMappings") { json in
        for mapping in step.mapping.entityMappings {
          json.mapping(mapping, rows: step.rows[mapping.name] ?? 0)
        }
      }
      json.field("strategy", step.strategy.rawValue)
      json.array("previews") { json in for preview in step.previews { json.preview(preview) } }
    }
  }

  private mutating func preview(_ preview: MappingPreview) {
    object { json in
      json.fields([
        ("mapping", preview.mapping), ("source", preview.source?.description),
        ("destination", preview.destination),
      ])
      for (key, values) in [("before", preview.before), ("after", preview.after)] {
        json.object(key) { json in
          for property in values {
            json.field(property.name, property.value)
          }
        }
      }
    }
  }

  private mutating func mapping(_ mapping: EntityMapping, rows: Int) {
    object { json in
      json.fields([
        ("name", mapping.name), ("type", mapping.kind.name), ("source", mapping.source),
        ("destination", mapping.destination),
      ])
      json.fields([
        ("condition", mapping.condition?.text), ("distinct", mapping.distinct?.text),
        ("policy", mapping.policy),
      ])
      json.field("deletionIntended", mapping.isDeletionIntended)
      json.attributes(mapping.attributes)
      json.objects("relationships", mapping.relationships) { json, relationship in
        json.field("name", relationship.name)
        json.field("from", relationship.source)
        json.field("through", relationship.through)
        if let fetched = relationship.fetched {
          json.field("fetched", fetched)
          json.field("condition", relationship.condition?.text)
        }
      }
      json.array("children") { json in for child in mapping.children { json.child(child) } }
      json.field("rows", rows)
    }
  }

  private mutating func attributes(_ attributes: [AttributeMapping]) {
    objects("attributes", attributes) { json, attribute in
      json.field("name", attribute.name)
      json.field("from", attribute.source)
      json.field("default", attribute.defaultValue)
      json.field("expression", attribute.expression?.text)
    }
  }

  private mutating func child(_ child: ChildMapping) {
    object { json in
      json.fields([
        ("destination", child.destination), ("relationship", child.relationship),
        ("each", child.each?.text),
      ])
      json.attributes(child.attributes)
      json.array("children") { json in for inner in child.children { json.child(inner) } }
    }
  }
}
