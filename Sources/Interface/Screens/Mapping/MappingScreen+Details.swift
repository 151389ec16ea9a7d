import ManagedModel
import Migration
import Terminal

/// What Enter and S show of a mapping, in full.
extension MappingScreen {
  mutating func open(in state: inout State) -> [Effect] {
    switch activePane {
    case .mappings:
      guard let entry = selectedEntry else { return [] }
      state.show(Self.details(of: entry.mapping, in: entry.step, self))
    case .losses:
      switch selectedProblem {
      case .check(let check):
        if let rows = ConcernedRows(check, state) { return rows.show(in: &state) }
        state.show(Self.details(of: check))
      case .loss(let loss):
        var layer = Self.details(of: loss, canBeMapped: reasonNotToSuggest(state) == nil)
        layer.rows = ConcernedRows(loss, state)
        state.show(layer)
      case .refusal(let error): state.show(MessageLayer(error))
      case .edit(let edit):
        state.show(
          DetailsLayer(
            "✎ changed here", [.init(edit.text, .changed), .init("x takes it back.", .dim)]))
      case .note(let text): state.show(DetailsLayer("note", [.init(text)]))
      case nil: break
      }
    }
    return []
  }

  static func details(
    of mapping: EntityMapping, in step: MigrationStep, _ screen: MappingScreen
  ) -> DetailsLayer {
    var paragraphs: [DetailsLayer.Paragraph] = [
      .init(
        "\(mapping.kind.name): \(mapping.source ?? "—") → \(mapping.destination ?? "—"), "
          + NumberText.counted(step.rows[mapping.name] ?? 0, "object"), .title),
      .init(meaning(of: mapping.kind), .dim),
      .init(""),
    ]
    for line in screen.propertyLines(mapping, in: step, .mono) {
      let text = line.spans.map(\.text).joined()
      paragraphs.append(
        .init(line.name.isEmpty ? text : "\(line.name)  \(text)", line.role, isCode: true))
    }
    let previews = step.previews.filter { $0.mapping == mapping.name }
    if !previews.isEmpty {
      paragraphs += [.init(""), .init("the first objects, before and after", .title)]
      for line in previewLines(previews, .mono) where !line.spans.isEmpty {
        paragraphs.append(.init("\(line.name)  " + line.spans.map(\.text).joined(), line.role))
      }
    }
    return DetailsLayer(mapping.name, paragraphs)
  }

  private static func meaning(of kind: EntityMapping.Kind) -> String {
    switch kind {
    case .copy: "The entity is the same in both versions: its rows stay as they are."
    case .transform: "Its objects go on, with the properties of the new version."
    case .custom: "Its objects are made by a mapping of its own."
    case .add: "The entity is new."
    case .remove: "The entity is gone, and its objects with it. r maps them to another one."
    }
  }

  static func details(of check: DataCheck) -> DetailsLayer {
    var paragraphs: [DetailsLayer.Paragraph] = [
      .init(check.summary, check.isWarning ? .warning : .error),
      .init(
        check.isWarning
          ? "The migration runs all the same; such objects cannot be saved as they are."
          : "The migration is refused as long as these rows are as they are.", .dim),
    ]
    if !check.first.isEmpty {
      paragraphs += [.init(""), .init("the first of them", .title)]
      paragraphs += check.first.map { .init("  \($0)", .relationship, isCode: true) }
    }
    paragraphs += [.init(""), .init("→ " + check.typedHint, .success)]
    return DetailsLayer("✗ \(check.place)", paragraphs)
  }

  static func details(of loss: Loss, canBeMapped: Bool = true) -> DetailsLayer {
    var paragraphs: [DetailsLayer.Paragraph] = [
      .init("\(loss.counted) would be lost", .warning)
    ]
    if !loss.samples.isEmpty {
      paragraphs += [.init(""), .init("the first of them", .title)]
      paragraphs += loss.samples.map { .init("  \($0)", .text, isCode: true) }
    }
    if let suggestion = loss.suggestion {
      paragraphs += [.init(""), .init("→ " + suggestion, .success)]
    }
    paragraphs += [
      .init(""),
      .init(
        (canBeMapped
          ? "r maps \(loss.property == nil ? "them" : "it") elsewhere, "
          : "Nothing new in the destination fits; ") + "a accepts the loss"
          + (loss.property == nil ? ", d writes into the recipe that it is meant." : "."), .dim),
    ]
    return DetailsLayer("! \(loss.name)", paragraphs)
  }

  /// The statements under the names of what they work at.
  mutating func showCode(_ statements: [MigrationStatement], in state: inout State) {
    var paragraphs: [DetailsLayer.Paragraph] = []
    var place = (step: 0, part: "")
    let steps = plan?.steps.filter { $0.mapping.kind != .none } ?? []
    for statement in statements {
      if statement.step != place.step, steps.count > 1, steps.indices.contains(statement.step - 1) {
        let step = steps[statement.step - 1]
        if !paragraphs.isEmpty { paragraphs.append(.init("")) }
        paragraphs.append(
          .init("-- step \(statement.step): \(step.from) → \(step.to)", .title, isCode: true))
      }
      if statement.step != place.step || statement.part != place.part {
        if !paragraphs.isEmpty { paragraphs.append(.init("")) }
        let part = statement.part.isEmpty ? "before" : statement.part
        paragraphs.append(.init("-- \(part)", .dim, isCode: true))
        place = (statement.step, statement.part)
      }
      let isWhole = statement.sql.hasSuffix(";")
      paragraphs.append(.init(statement.sql + (isWhole ? "" : ";"), .code, isCode: true))
    }
    if paragraphs.isEmpty { paragraphs.append(.init("There is nothing to do.", .dim)) }
    state.show(
      DetailsLayer(
        "SQL of the plan: \(NumberText.counted(statements.count, "statement"))", paragraphs))
  }
}
