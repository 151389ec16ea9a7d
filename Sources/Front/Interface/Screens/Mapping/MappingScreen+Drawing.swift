import ManagedModel
import Migration
import Reports
import Terminal

extension MappingScreen {
  func drawWithoutVersions(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect)
  {
    let lines: [TextLine]
    if context.versionsTask != nil {
      lines = [("looking for versions of the model …", .dim)]
    } else if chosenTask != nil {
      lines = [("looking for \(chosen?.name ?? "the version") …", .dim)]
    } else if isChosenGone, let chosen {
      lines = [
        ("\(chosen.name), which was chosen, no longer exists:", .warning),
        (context.known.named(chosen.path), .code), ("", .dim),
        ("Nothing is planned. → o chooses another version, a path or a git revision.", .success),
      ]
    } else if context.known.noStore != nil {
      lines = [
        ("There is no other version of the model.", .text), ("", .dim),
        ("→ o, then p: take a .xcdatamodeld, .momd or store by its path.", .success),
      ]
    } else if context.versions.count > 1,
      !context.versions.contains(where: { $0.isStores && $0.isCurrent })
    {
      lines = [
        ("No version follows the store’s.", .text), ("", .dim),
        ("→ o chooses a version, a path or a git revision.", .success),
      ]
    } else if context.versions.count > 1 {
      lines = [
        ("✓ The store has the model’s current version.", .success), ("", .dim),
        ("→ o chooses another version, a path or a git revision.", .dim),
      ]
    } else {
      lines = [
        ("There is no other version of the model beside the store.", .text), ("", .dim),
        ("→ o, then p: take a .xcdatamodeld, .momd or store by its path.", .success),
        ("Or start with a model:", .dim),
        ("strata \(ShellText.quoted(context.storePath)) --model MODEL", .code),
      ]
    }
    let wrapped = lines.flatMap { Wrapping.lines($0.text, $0.role, width: rect.width - 4) }
    for (index, line) in wrapped.enumerated() {
      let row = rect.row(rect.height / 3 + index)
      grid.write(line.text, in: row, style: theme[line.role], align: .center)
    }
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    guard let version = context.versions.element(to) else {
      drawWithoutVersions(context, with: theme, in: &grid, rect)
      return
    }
    drawSummary(context, to: version.name, with: theme, in: &grid, rect.row(0))
    let layout = MappingScreenLayout(self, context)
    let next = NextStep(self, context)
    grid.write(
      " → " + next.text, at: layout.next.origin, style: theme[next.role], within: layout.next.width)
    if refusal != nil {
      drawProblems(context, with: theme, in: &grid, layout.problems, isFocused: !context.isCovered)
      let code = refusal?.code.map { " (\($0))" } ?? ""
      grid.title([Span("✗ no mapping\(code)", theme[.error])], on: layout.problems)
      return
    }
    guard let plan else {
      drawWithoutPlan(with: theme, in: &grid, layout.problems)
      return
    }
    if plan.isNothingToDo {
      let line = rect.row(rect.height / 2)
      grid.write(
        "✓ The store already has this version.", in: line, style: theme[.success], align: .center)
      return
    }
    let isActive = !context.isCovered
    drawProperties(with: theme, in: &grid, layout.properties)
    if focus == .mappings {
      drawProblems(context, with: theme, in: &grid, layout.problems, isFocused: false)
      drawMappings(with: theme, in: &grid, layout.mappings, isFocused: isActive)
    } else {
      drawMappings(with: theme, in: &grid, layout.mappings, isFocused: false)
      drawProblems(context, with: theme, in: &grid, layout.problems, isFocused: isActive)
    }
    drawTitles(with: theme, in: &grid, layout)
  }

  /// After all borders, since a shared edge would run over the title in it.
  private func drawTitles(with theme: Theme, in grid: inout Grid, _ layout: MappingScreenLayout) {
    let isUpper = focus == .mappings
    if layout.mappings.height > 1 {
      grid.title([Span("Entity mappings", theme[isUpper ? .title : .dim])], on: layout.mappings)
    }
    // A small screen has the lower pane alone.
    if layout.properties.height > 1, let entry = selectedEntry {
      let steps = plan?.steps.count ?? 1
      let place = steps > 1 ? "step \(entry.number) of \(steps): " : ""
      grid.title([Span(place + entry.mapping.name, theme[.dim])], on: layout.properties)
    }
    grid.title(
      [Span("what would be lost, what would fail", theme[isUpper ? .dim : .title])],
      note: problemsNote(theme), on: layout.problems)
  }

  private func drawSummary(
    _ context: Context, to name: String, with theme: Theme, in grid: inout Grid, _ line: Rect
  ) {
    var spans = [
      Span(" plan  ", theme[.dim]),
      Span(context.storeModelName ?? "this store’s model", theme[.entity]),
      Span(" → ", theme[.dim]), Span(name, theme[.entity]),
    ]
    var note: [Span] = []
    if let plan, !plan.isNothingToDo {
      let kinds = Set(plan.steps.map(\.mapping.kind.rawValue)).sorted().joined(separator: ", ")
      let steps = plan.steps.count > 1 ? "\(plan.steps.count) steps, " : ""
      let time =
        plan.secondsEstimated < 1
        ? "about 1 s" : "about \(NumberText.seconds(plan.secondsEstimated))"
      spans.append(
        Span(
          "   \(steps)\(kinds), \(plan.strategy.rawValue), \(time), "
            + "\(NumberText.bytes(plan.bytesNeeded)) free needed", theme[.dim]))
      let losses = plan.unallowedLosses(allowedLosses)
      if !plan.failures.isEmpty {
        note.append(
          Span(
            "✗ \(NumberText.counted(plan.failures.count, "check fails", plural: "checks fail"))  ",
            theme[.error]))
      }
      if !losses.isEmpty {
        let count = NumberText.counted(losses.count, "loss", plural: "losses")
        note.append(Span("! \(count)  ", theme[.warning]))
      } else if !plan.losses.isEmpty {
        note.append(Span("losses accepted  ", theme[.warning]))
      }
      if !plan.obstacles.isEmpty {
        note.append(Span("✗ \(PlanVerdict.cannot) ", theme[.error]))
      } else if PlanVerdict(plan, allowing: allowedLosses) == .canMigrate {
        note.append(Span("✓ \(PlanVerdict.can) ", theme[.success]))
      }
    }
    let width = note.width(upTo: line.width)
    grid.write(spans, at: line.origin, within: max(0, line.width - width - 2))
    grid.write(note, at: Point(x: line.right - width, y: line.y))
  }

  private func drawProperties(with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    guard rect.height > 1 else { return }
    let inside = grid.box(rect, style: theme[.border]).inset(horizontally: 1, vertically: 0)
    guard let entry = selectedEntry else { return }
    let lines =
      propertyLines(entry.mapping, in: entry.step, theme)
      + Self.previewLines(entry.step.previews.filter { $0.mapping == entry.mapping.name }, theme)
    let nameWidth = max(6, min(24, lines.map { TextWidth.of($0.name, upTo: 24) }.max() ?? 0))
    for (row, line) in lines.enumerated() where row < inside.height {
      if row == inside.height - 1, lines.count > inside.height {
        grid.write(
          "… and \(lines.count - row) more", at: inside.row(row).origin, style: theme[.dim])
        break
      }
      let place = inside.row(row)
      grid.write(line.name, at: place.origin, style: theme[line.role], within: nameWidth)
      grid.write(
        line.spans, at: Point(x: place.x + nameWidth + 1, y: place.y),
        within: max(0, place.width - nameWidth - 1))
    }
  }

  /// A property of the selected mapping, and where it comes from.
  typealias PropertyLine = (name: String, role: Theme.Role, spans: [Span])

  func propertyLines(
    _ mapping: EntityMapping, in step: MigrationStep, _ theme: Theme
  ) -> [PropertyLine] {
    switch mapping.kind {
    case .remove:
      let text =
        mapping.isDeletionIntended
        ? "Its objects are deleted, as the recipe says."
        : "The entity was removed: its objects are lost. r maps them to another entity."
      return [("", .removed, [Span(text)])]
    case .add: return [("", .added, [Span("The entity is new: it starts empty.")])]
    default: break
    }
    let arrow = Span("← ", theme[.dim])
    // What changes comes first: it is what one looks for.
    var (changed, same): ([PropertyLine], [PropertyLine]) = ([], [])
    func copied(_ name: String, _ from: String, isRenamed: Bool) -> [Span] {
      let spans = [arrow, Span(from, theme[.code])]
      return isRenamed
        ? spans + [Span("  " + origin(of: name, mapping, step), theme[.changed])] : spans
    }
    for attribute in mapping.attributes {
      let (name, value) = (attribute.name, attribute.defaultValue?.shown)
      let otherwise = value.map { [Span("  ∅ becomes \($0)", theme[.changed])] } ?? []
      switch attribute.origin {
      case .computed, .path:
        changed.append((name, .changed, [Span(MappingText.value(of: attribute), theme[.code])]))
      case .new:
        let spans = [
          Span(value ?? "∅", theme[.code]), Span(value == nil ? "" : "  default", theme[.dim]),
        ]
        changed.append((name, .added, [arrow] + spans))
      case .renamed(let source):
        let spans = copied(name, "$source.\(source)", isRenamed: true)
        changed.append((name, .changed, spans + otherwise))
      case .kept(let source):
        let spans = copied(name, "$source.\(source)", isRenamed: false) + otherwise
        otherwise.isEmpty
          ? same.append((name, .attribute, spans)) : changed.append((name, .changed, spans))
      }
    }
    for relationship in mapping.relationships {
      let name = relationship.name
      func from(_ source: String) -> String {
        relationship.through.map { "\($0)($source.\(source))" } ?? "$source.\(source)"
      }
      switch relationship.origin {
      case .path(let path):
        changed.append((name, .changed, [arrow, Span(path, theme[.code])]))
      case .computed, .new:
        let spans = [arrow, Span("∅", theme[.null]), Span("  new", theme[.dim])]
        changed.append((name, .added, spans))
      case .renamed(let source):
        changed.append((name, .changed, copied(name, from(source), isRenamed: true)))
      case .kept(let source):
        same.append((name, .relationship, copied(name, from(source), isRenamed: false)))
      }
    }
    func lines(_ lines: [MappingText.Line]) -> [PropertyLine] {
      lines.map { line in
        let indent = String(repeating: " ", count: 2 * line.depth)
        let isBare = line.text.isEmpty
        return (
          isBare ? "" : indent + line.name, .changed,
          [Span(isBare ? line.name : line.text, theme[isBare ? .text : .code])]
        )
      }
    }
    return lines(MappingText.conditions(of: mapping)) + changed
      + lines(MappingText.children(of: mapping)) + same
  }

  /// What says that a property had another name.
  private func origin(
    of property: String, _ mapping: EntityMapping, _ step: MigrationStep
  ) -> String {
    guard let entity = mapping.destination else { return "renamed" }
    let holder = step.destination.declaringEntity(of: property, in: entity) ?? entity
    if currentEdits.renames.values.contains("\(holder).\(property)") { return "✎ renamed here" }
    let identifier =
      step.destination.storedAttribute(named: property, of: entity)?.renamingIdentifier
      ?? step.destination.relationship(named: property, of: entity)?.renamingIdentifier
    return identifier.map { "renaming id \($0)" } ?? "renamed"
  }

  /// The first objects, before and after.
  static func previewLines(_ previews: [MappingPreview], _ theme: Theme) -> [PropertyLine] {
    func text(_ properties: [MappingPreview.Property]) -> String {
      properties.map { "\($0.name) \(Sanitize.text($0.value, limit: 24))" }.joined(separator: ", ")
    }
    return previews.flatMap { preview -> [PropertyLine] in
      [
        ("", .text, []),
        (
          preview.source.map { "p\($0.key)" } ?? "", .dim,
          [Span(text(preview.before), theme[.dim])]
        ),
        ("→", .dim, [Span("\(preview.destination): \(text(preview.after))")]),
      ]
    }
  }
}

/// Where the parts of Mapping lie.
struct MappingScreenLayout {
  let mappings: Rect
  let properties: Rect
  let problems: Rect
  /// The sentence that says what to do next.
  let next: Rect

  init(_ mapping: MappingScreen, _ context: Context) {
    let all = context.body
    next = all.row(max(0, all.height - 1))
    let body = Rect(x: all.x, y: all.y + 1, width: all.width, height: max(0, all.height - 2))
    let isFocused = mapping.activePane == .losses
    let problemCount = mapping.problemList.count
    // A refusal has the screen for itself; one problem takes several lines, and the pane grows with
    // them up to half of it.
    let command = Wrapping.code(mapping.command(context), width: max(8, body.width - 8))
    let calm = min(4 + command.count, max(3, body.height / 3))
    let wanted =
      problemCount == 0 ? calm : min(4 + 2 * problemCount, body.height / (isFocused ? 2 : 3))
    let problemHeight =
      mapping.plan == nil
      ? body.height
      : body.height < 13
        ? (isFocused ? body.height : 0) : problemCount == 0 ? calm : max(5, wanted)
    let isAlone = problemHeight == body.height
    let upper = Rect(
      x: body.x, y: body.y, width: body.width,
      height: isAlone ? 0 : body.height - max(0, problemHeight - 1))
    problems = Rect(
      x: body.x, y: body.bottom - problemHeight, width: body.width, height: problemHeight)
    let isNarrow = body.width < 80
    let leftWidth = isNarrow ? body.width : body.width * 45 / 100
    mappings = Rect(
      x: upper.x, y: upper.y, width: leftWidth,
      height: isNarrow ? min(upper.height, max(4, upper.height / 2 + 1)) : upper.height)
    properties =
      isNarrow
      ? Rect(
        x: upper.x, y: mappings.bottom - 1, width: upper.width,
        height: upper.height - mappings.height + 1)
      : Rect(
        x: mappings.right - 1, y: upper.y, width: upper.width - leftWidth + 1, height: upper.height)
  }
}
