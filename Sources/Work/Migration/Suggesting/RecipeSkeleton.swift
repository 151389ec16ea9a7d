import JSON
import ManagedModel
import Mapping

/// The recipe that a refused migration asks for, as far as it can be written without knowing what was
/// meant: values by the likeliest expression, and marks where only a person can say.
public struct RecipeSkeleton: Sendable, Equatable {
  /// Something that somebody has to look at.
  public struct Gap: Sendable, Equatable {
    /// The property, the entity, or the class that a mapping names.
    public let place: String
    /// Why it is asked for.
    public let reason: String
    /// What was written for it, from what the store has; `nil` where a mark stands, which reading the
    /// recipe refuses.
    public let guess: String?
    /// What could stand in the place of the mark.
    public var example: String?
  }

  /// What the two versions are called.
  public let from: String
  /// The destination's name.
  public let to: String
  /// What has to be looked at, in the order in which it was refused.
  public private(set) var gaps: [Gap] = []
  /// What is still refused with all that filled in, as sentences.
  public private(set) var rest: [String] = []
  /// The recipe's text: JSON5 with comments.
  public private(set) var text = ""
}

extension RecipeSkeleton {
  /// The skeleton for what stands in the way of a migration.
  ///
  /// It is for the policy classes that the request's mapping models name and nothing stands in for;
  /// without such, for what cannot be inferred between the store's version and the destination, and
  /// for mandatory attributes that would have no value in some rows.
  ///
  /// - Returns: `nil` where nothing of that stands in the way.
  /// - Throws: ``CoreDataError`` where the store's version is not known or a document is wrong.
  public init?(
    for store: Store, _ request: MigrationRequest, isCancelled: @escaping () -> Bool = { false }
  ) throws {
    let source = request.source(of: store)
    from = source.name
    to = request.destination.name
    let part = store.part
    let models = (from: part.model(source.model), to: part.model(request.destination.model))
    var edits = MappingEdits()
    var marks: [String] = []
    // Places whose value nothing in the store suggests.
    var invented: Set<String> = []
    do {
      let path = try StoreMigration.path(of: store, request)
      if let step = path.steps.first(where: { !Self.classes(of: $0, request).isEmpty }) {
        self.standIns(for: step, Self.classes(of: step, request))
        return
      }
    } catch let error as CoreDataError {
      guard error.isOfModels else { throw error }
      for refusal in MappingInference.remainder(from: models.from, to: models.to).refusals {
        take(refusal, models, &edits, &marks, &invented)
      }
      if gaps.isEmpty { throw error }
    }
    var request = request
    if !edits.isEmpty {
      // The skeleton is whole: it stands in for what was given for these versions.
      request.documents = MappingDocuments()
      request.documents.add(try edits.recipe(from: models.from, to: models.to))
    }
    try addMissing(store, request, &edits, &invented, isCancelled)
    guard !gaps.isEmpty else { return nil }
    text =
      comments(with: [])
      + edits.text(from: models.from, to: models.to, further: marks, marked: invented)
  }

  /// Classes that nothing stands in for, by the mappings that name them.
  private static func classes(
    of step: MigrationStep, _ request: MigrationRequest
  ) -> [EntityMapping] {
    step.mapping.entityMappings.filter {
      $0.policy != nil && request.policies.type(for: $0) == nil
    }
  }

  /// A change that cannot be inferred.
  private mutating func take(
    _ refusal: CoreDataError, _ models: (from: Model, to: Model), _ edits: inout MappingEdits,
    _ marks: inout [String], _ invented: inout Set<String>
  ) {
    let place = [refusal.entity, refusal.property].compactMap { $0 }.joined(separator: ".")
    let reason = refusal.reason ?? refusal.message
    let fixes = MappingSuggestion.fixes(for: refusal, from: models.from, to: models.to)
    guard !fixes.isEmpty else {
      gaps.append(Gap(place: place, reason: reason, guess: nil))
      marks.append(
        JSONText.quoted(
          "\(MappingEdits.mark): an entity mapping for \(place): \(refusal.hint ?? reason)"))
      return
    }
    for edit in fixes { edits.add(edit) }
    let made = fixes.compactMap(\.inventedPlace)
    invented.formUnion(made)
    let text = fixes.map(\.text).joined(separator: "; ")
    gaps.append(
      Gap(
        place: place, reason: reason, guess: made.isEmpty ? text : nil,
        example: made.isEmpty ? nil : text))
  }

  /// Mandatory attributes without a value in some rows, now that a plan can be made.
  private mutating func addMissing(
    _ store: Store, _ request: MigrationRequest, _ edits: inout MappingEdits,
    _ invented: inout Set<String>, _ isCancelled: @escaping () -> Bool
  ) throws {
    let plan: MigrationPlan
    do {
      plan = try StoreMigration.plan(store, request, isCancelled: isCancelled)
    } catch {
      // What is marked stands in the way; the others are known all the same.
      guard !gaps.isEmpty,
        let refused = try RefusedPlan(error, of: store, request, isCancelled: isCancelled)
      else { throw error }
      return name(refused.losses, refused.checks.filter { !$0.isWarning })
    }
    for check in plan.failures {
      let place = [check.entity, check.property].compactMap { $0 }.joined(separator: ".")
      let step = plan.steps.first { step in
        step.destination.entity(named: check.entity) != nil
      }
      guard plan.steps.count == 1, check.lacksValue, let step,
        let property = check.property,
        step.mapping.kind == .inferred || step.mapping.kind == .recipe,
        request.documents.recipes.allSatisfy({ $0.path == MappingEdits.name }),
        let value = MappingSuggestion.value(for: property, of: check.entity, in: step)
      else {
        name([], [check])
        continue
      }
      edits.add(.value(value.place.text, value.expression))
      invented.insert(value.place.text)
      gaps.append(
        Gap(
          place: place, reason: check.summary, guess: nil,
          example: "\(value.place.text) = \(value.expression)"))
    }
    if !gaps.isEmpty { name(plan.losses.filter { !$0.isIntended }, []) }
  }

  /// Names what the recipe does not put right.
  private mutating func name(_ losses: [Loss], _ checks: [DataCheck]) {
    rest += checks.map { check in
      let place = [check.entity, check.property].compactMap { $0 }.joined(separator: ".")
      return "\(place): \(check.summary). \(check.hint)"
    }
    rest += losses.map { loss in
      "\(loss.name): \(NumberText.counted(loss.values, loss.singular)) would be lost\(loss.misfit.map { ", " + $0.clause } ?? ""): map or accept that."
    }
  }

  /// Stand-ins for the classes of a step's mapping, beside the documents that it is from.
  private mutating func standIns(for step: MigrationStep, _ mappings: [EntityMapping]) {
    var lines: [String] = []
    var members: [String] = []
    for policy in Set(mappings.compactMap(\.policy)).sorted() {
      let own = mappings.filter { $0.policy == policy }
      let names = own.map { "\($0.name) (\($0.source ?? "—") → \($0.destination ?? "—"))" }
      gaps.append(
        Gap(
          place: policy,
          reason: "the class is in the app and carries out " + names.joined(separator: ", "),
          guess: nil))
      for mapping in own {
        let (attributes, links) = (mapping.attributes, mapping.relationships)
        let given = (attributes.map(\.name) + links.map(\.name)).joined(separator: ", ")
        let source = mapping.source.map { name in
          (step.source.storedAttributes(of: name).map(\.name)
            + step.source.relationships(of: name).map(\.name)).joined(separator: ", ")
        }
        lines.append("\(mapping.name) gives \(mapping.destination ?? "nothing") \(given)")
        lines.append("  of \(mapping.source ?? "nothing") with \(source ?? "")")
      }
      members.append(
        "\(JSONText.quoted(policy)): "
          + JSONText.quoted(
            "\(MappingEdits.mark): { \"attributes\": { name: an expression } }, { \"delete\": true }, { } to do what the mapping model says by itself"
          ))
    }
    text =
      comments(with: lines)
      + RecipeWriter.block("{", "}", ["\"policies\": " + RecipeWriter.block("{", "}", members)])
      + "\n"
  }

  private func comments(with lines: [String]) -> String {
    var all = ["What prevents the migration from \(from) to \(to): check and complete it."]
    all.append(
      "Values are SQL expressions over the source's properties; null leaves a property empty.")
    for gap in gaps {
      all.append("- \(gap.place): \(gap.reason)")
      all.append(
        gap.guess.map { "    written below: \($0)" }
          ?? "    to be filled in below" + (gap.example.map { ", such as: \($0)" } ?? ""))
    }
    all += lines.map { "  " + $0 }
    if !rest.isEmpty { all.append("Refused besides:") }
    all += rest.map { "! " + $0 }
    return all.map { "// " + Self.plain($0) + "\n" }.joined()
  }

  /// Nothing in a name or a message may end the comment's line.
  private static func plain(_ text: String) -> String { RecipeWriter.plain(text) }
}

extension MappingEdits.Edit {
  /// The place that gets a value of which the store says nothing.
  fileprivate var inventedPlace: String? {
    switch self {
    case .value(let place, "NULL"), .empty(let place): place
    default: nil
    }
  }
}
