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
      key("source")
      object { $0.hashes(of: first.source) }
      key("destination")
      object { $0.hashes(of: last.destination) }
    }
    key("steps")
    array { json in for step in plan.steps { json.step(step) } }
    key("losses")
    array { json in for loss in plan.losses { json.loss(loss) } }
    key("checks")
    array { json in
      for check in plan.checks {
        json.object { json in
          json.key("code")
          json.number(check.code)
          json.key("warning")
          json.bool(check.isWarning)
          json.key("entity")
          json.string(check.entity)
          json.key("property")
          json.string(check.property)
          json.key("rows")
          json.number(check.rows)
          json.key("message")
          json.string(check.message)
          json.key("hint")
          json.string(check.hint)
          json.key("first")
          json.array { json in for id in check.first { json.string(id.description) } }
        }
      }
    }
    key("strategy")
    string(plan.strategy.rawValue)
    key("bytesNeeded")
    number(plan.bytesNeeded)
    key("bytesFree")
    if let free = plan.bytesFree { number(free) } else { null() }
    key("secondsEstimated")
    number(plan.secondsEstimated)
    key("notes")
    array { json in for note in plan.notes { json.string(note) } }
  }

  mutating func loss(_ loss: Loss) {
    object { json in
      json.key("entity")
      json.string(loss.entity)
      json.key("property")
      json.string(loss.property)
      json.key("values")
      json.number(loss.values)
      json.key("samples")
      json.array { json in for sample in loss.samples { json.string(sample) } }
      json.key("suggestion")
      json.string(loss.suggestion)
      json.key("intended")
      json.bool(loss.isIntended)
    }
  }

  private mutating func step(_ step: MigrationStep) {
    object { json in
      json.key("from")
      json.string(step.from)
      json.key("to")
      json.string(step.to)
      json.key("kind")
      json.string(step.mapping.kind.rawValue)
      json.key("entityMappings")
      json.array { json in
        for mapping in step.mapping.entityMappings {
          json.mapping(mapping, rows: step.rows[mapping.name] ?? 0)
        }
      }
      json.key("strategy")
      json.string(step.strategy.rawValue)
      json.key("previews")
      json.array { json in for preview in step.previews { json.preview(preview) } }
    }
  }

  private mutating func preview(_ preview: MappingPreview) {
    object { json in
      for (key, value) in [
        ("mapping", preview.mapping), ("source", preview.source?.description),
        ("destination", preview.destination),
      ] {
        json.key(key)
        json.string(value)
      }
      for (key, values) in [("before", preview.before), ("after", preview.after)] {
        json.key(key)
        json.object { json in
          for property in values {
            json.key(property.name)
            json.string(property.value)
          }
        }
      }
    }
  }

  private mutating func mapping(_ mapping: EntityMapping, rows: Int) {
    object { json in
      for (key, value) in [
        ("name", mapping.name), ("type", mapping.kind.name), ("source", mapping.source),
        ("destination", mapping.destination),
      ] {
        json.key(key)
        json.string(value)
      }
      for (key, value) in [
        ("condition", mapping.condition?.text), ("distinct", mapping.distinct?.text),
        ("policy", mapping.policy),
      ] {
        json.key(key)
        json.string(value)
      }
      json.key("deletionIntended")
      json.bool(mapping.isDeletionIntended)
      json.attributes(mapping.attributes)
      json.key("relationships")
      json.array { json in
        for relationship in mapping.relationships {
          json.object { json in
            json.key("name")
            json.string(relationship.name)
            json.key("from")
            json.string(relationship.source)
            json.key("through")
            json.string(relationship.through)
            if let fetched = relationship.fetched {
              json.key("fetched")
              json.string(fetched)
              json.key("condition")
              json.string(relationship.condition?.text)
            }
          }
        }
      }
      json.key("children")
      json.array { json in for child in mapping.children { json.child(child) } }
      json.key("rows")
      json.number(rows)
    }
  }

  private mutating func attributes(_ attributes: [AttributeMapping]) {
    key("attributes")
    array { json in
      for attribute in attributes {
        json.object { json in
          json.key("name")
          json.string(attribute.name)
          json.key("from")
          json.string(attribute.source)
          json.key("default")
          json.value(attribute.defaultValue ?? .null, blobs: false)
          json.key("expression")
          json.string(attribute.expression?.text)
        }
      }
    }
  }

  private mutating func child(_ child: ChildMapping) {
    object { json in
      for (key, value) in [
        ("destination", child.destination), ("relationship", child.relationship),
        ("each", child.each?.text),
      ] {
        json.key(key)
        json.string(value)
      }
      json.attributes(child.attributes)
      json.key("children")
      json.array { json in for inner in child.children { json.child(inner) } }
    }
  }
}
