import Migration
import ModelWriting
import Terminal

/// What the selected line of a comparison means to Core Data and to this store, as sentences.
struct DiffMeaning {
  typealias Sentence = TextLine
  private typealias Code = CoreDataError.Code

  private let diff: DiffScreen
  private let context: Context
  /// Whether everything is reported, also which rows.
  private let details: Bool

  init(_ diff: DiffScreen, _ context: Context, details: Bool = false) {
    (self.diff, self.context, self.details) = (diff, context, details)
  }

  var sentences: [Sentence] {
    guard let comparison = diff.comparison else { return [] }
    var sentences: [Sentence] = []
    if let line = diff.selectedLine {
      for line in [line] + line.kept {
        for change in line.changes { sentences += self.sentences(change, of: line, comparison) }
      }
      if line.changes.isEmpty, line.kept.isEmpty {
        let what: String
        let whole = line.property?.contains(".") == true ? "composite attribute" : "entity"
        switch line.sign {
        case .added: what = "added with its \(whole)"
        case .removed: what = "removed with its \(whole)"
        default:
          what = line.hasChanges ? "only its properties differ" : "the same in both versions"
        }
        sentences.append((what, .dim))
      }
      sentences += touched(line)
    }
    sentences += whole(comparison)
    return sentences
  }

  /// One change: what it is, whether it moves the hash, whether it can be inferred.
  private func sentences(
    _ change: PropertyChange, of line: DiffLine, _ comparison: Comparison
  ) -> [Sentence] {
    let hash = change.movesHash ? "changes the version hash" : "same version hash"
    guard let refusal = refusal(of: line, comparison), isRefused(change) else {
      let inferable = change.movesHash ? ", can be inferred" : ""
      return [
        ("\(change.description) — \(hash)\(inferable)", change.movesHash ? .changed : .text)
      ] + advice(change, of: line) + appDifferences(of: line, comparison)
    }
    let code = refusal.code ?? .inferredMappingModel
    return [
      ("✗ \(change.description) — \(hash), cannot be inferred (\(code))", .error),
      (Self.reason(refusal), .error),
    ] + fix(refusal)
  }

  /// What the app's own migration refuses or loses, and strata carries out.
  private func appDifferences(of line: DiffLine, _ comparison: Comparison) -> [Sentence] {
    comparison.appDifferences.filter {
      $0.entity == line.entity && $0.property == line.property
    }.map { ("! " + $0.sentence, .warning) }
  }

  private static func reason(_ refusal: CoreDataError) -> String {
    let text = refusal.reason ?? refusal.message
    return text.prefix(1).uppercased() + text.dropFirst() + "."
  }

  private static func tip(_ text: String) -> [Sentence] { [("→ " + text, .success)] }

  private func fix(_ refusal: CoreDataError) -> [Sentence] {
    var sentences = refusal.typedHint.map(Self.tip) ?? []
    if let (source, destination) = context.known.models(from: diff.from, to: diff.to) {
      let fixes = MappingSuggestion.fixes(for: refusal, from: source, to: destination)
      if !fixes.isEmpty {
        let text = fixes.map(\.text).joined(separator: ", ")
        sentences += Self.tip("Or do it in Mapping (m) with r: \(text).")
      }
    }
    return sentences
  }

  /// Why the line's change cannot be inferred; `nil` where it can.
  private func refusal(of line: DiffLine, _ comparison: Comparison) -> CoreDataError? {
    let destination = model(diff.to)
    return comparison.refusals.first { refusal in
      guard refusal.property == line.property, let entity = refusal.entity else { return false }
      // A property is refused where it is used, which may be further down than where it is declared.
      return entity == line.entity
        || line.property != nil && destination?.isKind(entity, of: line.entity) == true
    }
  }

  /// Of several changes of a line only some can be what inference minds.
  private func isRefused(_ change: PropertyChange) -> Bool {
    switch change.kind {
    case .type, .toMany, .destination, .parent, .added, .removed: true
    default: false
    }
  }

  /// What a change asks for, whatever the rows are.
  private func advice(_ change: PropertyChange, of line: DiffLine) -> [Sentence] {
    guard let property = line.property, let model = model(diff.to) else { return [] }
    let attribute =
      model.attribute(named: property, of: line.entity)
      ?? model.storedAttribute(named: property, of: line.entity)
    switch change.kind {
    case .added:
      guard let attribute, !attribute.isOptional, attribute.defaultValue == nil,
        !attribute.isDerived, attribute.isStored
      else { return [] }
      return Self.tip(
        "Existing rows have no value for it (\(Code.migration)): give \(line.place) a default value, or make it optional."
      )
    case .optional(false):
      guard let attribute, attribute.defaultValue == nil else { return [] }
      return Self.tip(
        "Rows without a value would be refused (\(Code.migration)): give \(line.place) a default value, or compute one in Mapping."
      )
    case .renamed(let former):
      let name = Self.ownName(former)
      return [
        ("Core Data takes the values over because of its renaming identifier “\(name)”.", .dim)
      ]
    case .removed:
      guard impacts(of: line).isEmpty, let source = self.model(diff.from),
        source.declaringEntity(of: property, in: line.entity) != nil,
        source.relationship(named: property, of: line.entity) == nil
      else { return [] }
      let former = Self.ownName(property)
      return Self.tip(
        "If it was only renamed, give the new one the renaming identifier “\(former)”.")
    default: return []
    }
  }

  private func model(_ index: Int?) -> Model? { context.versions.element(index)?.model }

  /// An element's identifier is its own former name, not its path.
  private static func ownName(_ path: String) -> String {
    path.split(separator: ".").last.map(String.init) ?? path
  }

  private func impacts(of line: DiffLine) -> [ChangeImpact] {
    (diff.impacts ?? []).filter { $0.entity == line.entity && $0.property == line.property }
  }

  /// The rows of the store that the line's changes touch.
  private func touched(_ line: DiffLine) -> [Sentence] {
    guard line.isChanged else { return [] }
    if diff.isCounting { return [("… counting the rows that this affects", .dim)] }
    var sentences: [Sentence] = []
    for impact in impacts(of: line) {
      let (sign, role): (String, Theme.Role) =
        switch impact.severity {
        case .harmless: ("", .text)
        case .loss: ("! ", .warning)
        case .failure: ("✗ ", .error)
        }
      let noun =
        impact.severity == .loss && line.property != nil && impact.objects.isEmpty
        ? "value" : line.property == nil && impact.objects.isEmpty ? "object" : "row"
      let code = impact.code.map { " (\($0))" } ?? ""
      var text = "\(sign)\(NumberText.counted(impact.rows, noun)) \(impact.message)\(code)"
      if !impact.samples.isEmpty {
        let limit = details ? 20 : 3
        text += ": " + impact.samples.prefix(limit).joined(separator: ", ")
        if impact.rows > min(limit, impact.samples.count) { text += " …" }
      }
      sentences.append((text, role))
      sentences += impact.hint.map(Self.tip) ?? []
    }
    return sentences
  }

  /// What holds for the two versions together, and where to go from here.
  private func whole(_ comparison: Comparison) -> [Sentence] {
    var sentences: [Sentence] = []
    let isOfStore = context.versions.element(diff.from)?.isStores ?? false
    if comparison.difference.hashesAreEqual {
      sentences.append(
        ("✓ Stores of either version open with the other, without a migration.", .success))
      sentences.append(
        ("→ This screen compares models. To compare the objects of two stores: C, then Tab.", .dim))
    } else if comparison.refusals.isEmpty {
      let refused = comparison.appDifferences.filter { $0.outcome == .refused }.map { difference in
        [difference.entity, difference.property].compactMap { $0 }.joined(separator: ".")
      }.joined(separator: ", ")
      sentences.append(
        refused.isEmpty
          ? ("✓ Core Data can infer the mapping between these versions.", .success)
          : (
            "! strata can infer a mapping; the app's own migration refuses it for \(refused).",
            .warning
          ))
      if isOfStore {
        sentences.append(("→ m shows the plan: what this store would lose, and what fails.", .dim))
      }
    } else {
      let places = comparison.refusals.map(\.place)
      let more = places.count > 4 ? " and \(places.count - 4) more" : ""
      let named = places.prefix(4).joined(separator: ", ") + more
      let text =
        "✗ Core Data cannot infer a mapping between these versions (\(Code.inferredMappingModel)): \(named)."
      sentences.append((text, .error))
      if diff.selectedLine.map({ refusal(of: $0, comparison) == nil }) ?? true,
        let first = comparison.refusals.first
      {
        sentences.append((Self.reason(first), .error))
        sentences += fix(first)
      }
    }
    if !isOfStore, !comparison.difference.hashesAreEqual {
      sentences.append(
        ("Rows are counted if a store is open and its own version is on the left (o).", .dim))
    }
    sentences += comparison.difference.conflicts.map { ("! " + $0, .warning) }
    if details || diff.selectedLine?.isChanged != true {
      sentences += comparison.difference.otherChanges.map { ($0, .dim) }
    }
    return sentences
  }
}
