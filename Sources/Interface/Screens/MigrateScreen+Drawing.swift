import ManagedModel
import Migration
import Terminal

extension MigrateScreen {
  static func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    switch state.migrate.phase {
    case .ready: drawReady(state, nil, with: theme, in: &grid, rect)
    case .failed(let error): drawReady(state, error, with: theme, in: &grid, rect)
    case .running(let progress, let isCancelling):
      drawProgress(state, progress, isCancelling, with: theme, in: &grid, rect)
    case .done(let receipt): drawReceipt(state, receipt, with: theme, in: &grid, rect)
    }
  }

  private static func write(
    _ lines: [[Span]], in grid: inout Grid, _ rect: Rect
  ) {
    for (row, spans) in lines.enumerated() where row < rect.height {
      grid.write(spans, at: rect.row(row).origin, within: rect.width)
    }
  }

  private static func drawReady(
    _ state: State, _ error: CoreDataError?, with theme: Theme, in grid: inout Grid, _ rect: Rect
  ) {
    let mapping = state.mapping
    guard let to = mapping.to, state.versions.indices.contains(to) else {
      MappingScreen.drawWithoutVersions(state, with: theme, in: &grid, rect)
      return
    }
    let inside = grid.box(
      rect, style: theme[.borderFocused], title: [Span("what will happen", theme[.title])]
    ).inset(horizontally: 2, vertically: 1)
    let width = max(1, inside.width - 3)
    var lines: [[Span]] = []
    func item(_ sign: String, _ role: Theme.Role, _ text: String) {
      for (index, line) in Wrapping.lines(text, width: width).enumerated() {
        lines.append([Span(index == 0 ? sign + "  " : "   ", theme[role]), Span(line)])
      }
    }
    lines.append([
      Span(state.store?.fileName ?? "", theme[.title]), Span("   "),
      Span(state.storeModelName ?? "this store’s model", theme[.entity]), Span(" → ", theme[.dim]),
      Span(state.versions[to].name, theme[.entity]),
    ])
    lines.append([])
    if let error {
      let what = error.kind == .cancelled ? "it was stopped" : error.message
      item("✗", .error, "The last try did not finish: \(what). The store is as it was.")
      lines.append([])
    }
    if let plan = mapping.plan {
      describe(plan, state, item)
    } else if mapping.refusal == nil {
      item("…", .dim, "the plan is being made")
    }
    lines.append([])
    if let reason = mapping.reasonNotToRun(state) {
      if mapping.task == nil { item("✗", .error, "It cannot run: \(reason).") }
    } else {
      lines.append([
        Span("⏎ ", theme[.footerKey]), Span("migrates now", theme[.success].adding(.bold)),
      ])
    }
    lines.append([])
    lines.append([Span("the same as  ", theme[.dim]), Span(mapping.command(state), theme[.code])])
    write(lines, in: &grid, inside)
  }

  private static func describe(
    _ plan: MigrationPlan, _ state: State, _ item: (String, Theme.Role, String) -> Void
  ) {
    guard !plan.isNothingToDo else { return }
    let all = plan.steps.flatMap(\.mapping.entityMappings)
    let rows = plan.steps.flatMap(\.rows.values).reduce(0, +)
    func count(_ kind: EntityMapping.Kind) -> Int { all.filter { $0.kind == kind }.count }
    item(
      "·", .dim,
      "\(NumberText.counted(rows, "object")) of \(all.filter { $0.source != nil }.count) "
        + "entities: \(count(.transform) + count(.custom)) changed, \(count(.copy)) copied, \(count(.add)) added, "
        + "\(count(.remove)) removed")
    if plan.steps.count > 1 {
      let names = plan.steps.prefix(1).map(\.from) + plan.steps.map(\.to)
      item("·", .dim, "in \(plan.steps.count) steps: \(names.joined(separator: " → "))")
    }
    item(
      "·", .dim,
      plan.strategy == .copy
        ? "into a new file beside the store (\(NumberText.bytes(plan.storeBytes)), "
          + "\(NumberText.bytes(plan.bytesNeeded)) free needed"
          + (plan.bytesFree.map { ", \(NumberText.bytes($0)) free)" } ?? ")")
        : "on a clone beside the store (\(NumberText.bytes(plan.storeBytes)), "
          + "\(NumberText.bytes(plan.bytesNeeded)) free needed"
          + (plan.bytesFree.map { ", \(NumberText.bytes($0)) free)" } ?? ")"))
    item("·", .dim, "verified row by row against the original, then put in place by one rename")
    item("·", .dim, "the old store stays beside it as a backup")
    if plan.failures.isEmpty {
      item("✓", .success, "the rows keep every rule that is new in this version")
    }
    for check in (plan.failures + plan.checks.filter(\.isWarning)).prefix(5) {
      let place = check.property.map { "\(check.entity).\($0)" } ?? check.entity
      item(
        check.isWarning ? "!" : "✗", check.isWarning ? .warning : .error,
        "\(place): \(check.summary)")
    }
    if plan.losses.isEmpty { item("✓", .success, "nothing is lost") }
    for loss in plan.losses.prefix(5) {
      let noun = loss.property == nil ? "object" : "value"
      let isAllowed = loss.isAllowed(by: state.mapping.allowedLosses)
      item(
        "!", .warning,
        "\(loss.name): \(NumberText.counted(loss.values, noun)) lost"
          + (loss.isIntended ? ", as the recipe says" : isAllowed ? ", accepted" : ""))
    }
    for note in plan.notes.prefix(3) { item("·", .dim, note) }
  }

  private static func drawProgress(
    _ state: State, _ progress: MigrationProgress?, _ isCancelling: Bool, with theme: Theme,
    in grid: inout Grid, _ rect: Rect
  ) {
    let steps = state.mapping.plan?.steps ?? []
    var title = [
      Span(" migrating ", theme[.dim]), Span(steps.first?.from ?? "", theme[.entity]),
      Span(" → ", theme[.dim]), Span(steps.last?.to ?? "", theme[.entity]),
    ]
    if let progress, progress.steps > 1 {
      // Steps that have nothing to move are not counted.
      let moving = steps.filter { $0.mapping.kind != .none }
      let index = progress.step - 1
      let way =
        moving.indices.contains(index) ? ": \(moving[index].from) → \(moving[index].to)" : ""
      title.append(Span("   step \(progress.step) of \(progress.steps)\(way)", theme[.dim]))
    }
    grid.write(title, at: rect.origin, within: rect.width)
    let foot = rect.row(rect.height - 1)
    let sentence =
      isCancelling
      ? " stopping … the store stays as it was"
      : " the original is untouched until the last step; ^C stops and leaves it so"
    grid.write(
      sentence, at: foot.origin, style: theme[isCancelling ? .warning : .dim], within: foot.width)
    guard let progress else {
      grid.write(" starting …", at: rect.row(2).origin, style: theme[.dim], within: rect.width)
      return
    }
    drawTotal(progress, with: theme, in: &grid, rect.row(rect.height - 3))
    let list = Rect(
      x: rect.x + 1, y: rect.y + 2, width: rect.width - 2, height: max(0, rect.height - 6))
    // The part at work stays in sight, with a few that are done above it.
    let offset = max(0, min(progress.current - list.height / 2, progress.parts.count - list.height))
    for row in 0..<list.height where offset + row < progress.parts.count {
      let index = offset + row
      drawPart(
        progress.parts[index], isCurrent: index == progress.current, with: theme, in: &grid,
        list.row(row))
    }
  }

  private static func drawPart(
    _ part: MigrationProgress.Part, isCurrent: Bool, with theme: Theme, in grid: inout Grid,
    _ line: Rect
  ) {
    let titleWidth = max(10, min(24, line.width / 4))
    let sign = part.isFinished ? "✓ " : isCurrent ? "▸ " : "  "
    grid.write(
      [
        Span(sign, theme[part.isFinished ? .success : .title]),
        Span(part.title, isCurrent ? theme[.entity] : .plain),
      ], at: line.origin, within: titleWidth)
    let rest = Rect(
      x: line.x + titleWidth + 1, y: line.y, width: line.width - titleWidth - 1, height: 1)
    guard part.isFinished || part.done > 0 || isCurrent else {
      grid.write("waiting", at: rest.origin, style: theme[.dim], within: rest.width)
      return
    }
    // One thing to do has no bar: it is done or it is not.
    if !part.isFinished, part.total <= 1 {
      grid.write("at work …", at: rest.origin, style: theme[.dim], within: rest.width)
      return
    }
    let numbers = numbers(of: part)
    let barWidth = max(8, rest.width - 42)
    let bar = Rect(x: rest.x, y: rest.y, width: min(barWidth, rest.width), height: 1)
    (part.isFinished ? Gauge(1) : Gauge(part.done, of: part.total))
      .draw(in: &grid, bar, theme: theme)
    grid.write(
      numbers, at: Point(x: bar.right + 1, y: rest.y), style: theme[.dim],
      within: max(0, rest.right - bar.right - 1))
  }

  private static func numbers(of part: MigrationProgress.Part) -> String {
    let time = NumberText.seconds(part.seconds)
    switch part.unit {
    case .bytes:
      return part.isFinished
        ? "\(NumberText.bytes(part.total))  \(time)"
        : "\(NumberText.bytes(part.done)) / \(NumberText.bytes(part.total))"
    case .items: return part.isFinished ? time : ""
    case .rows:
      guard !part.isFinished else { return "\(NumberText.grouped(part.total))  \(time)" }
      var text = "\(NumberText.grouped(part.done)) / \(NumberText.grouped(part.total))"
      if let rate = part.rate { text += "  \(NumberText.grouped(Int(min(rate, 1e12))))/s" }
      if let left = part.remaining { text += "  \(NumberText.seconds(left)) left" }
      return text
    }
  }

  private static func drawTotal(
    _ progress: MigrationProgress, with theme: Theme, in grid: inout Grid, _ line: Rect
  ) {
    let percent = Int(progress.fraction * 100)
    var text = "\(percent) %   elapsed \(NumberText.seconds(progress.elapsed))"
    if let left = progress.remaining { text += "   left \(NumberText.seconds(left))" }
    if line.width >= 90 {
      text +=
        "   rows \(NumberText.grouped(progress.rows))   "
        + "written \(NumberText.bytes(progress.bytesWritten))"
    }
    grid.write(" total ", at: line.origin, style: theme[.entity])
    let width = max(8, line.width - 7 - max(44, TextWidth.of(text) + 2))
    let bar = Rect(x: line.x + 7, y: line.y, width: min(width, max(0, line.width - 7)), height: 1)
    Gauge(progress.fraction).draw(in: &grid, bar, theme: theme)
    grid.write(
      text, at: Point(x: bar.right + 2, y: line.y), within: max(0, line.right - bar.right - 2))
  }

  /// A line of the receipt: what, and two columns of numbers where there are any.
  typealias ReceiptLine = (
    sign: String, role: Theme.Role, text: String, before: String, after: String
  )

  static func receiptLines(_ receipt: MigrationReceipt) -> [ReceiptLine] {
    func line(_ text: String = "", _ role: Theme.Role = .text, sign: String = " ") -> ReceiptLine {
      (sign, role, text, "", "")
    }
    var lines: [ReceiptLine] = [
      line(
        "migrated “\(receipt.from)” → “\(receipt.to)” in \(NumberText.seconds(receipt.seconds)), "
          + "\(NumberText.seconds(receipt.verificationSeconds)) of them to verify", .success,
        sign: "✓"),
      line("\(receipt.resultPath)  \(NumberText.bytes(receipt.bytes))", .dim),
    ]
    if let backup = receipt.backupPath { lines.append(line("backup: \(backup)", .dim)) }
    lines.append(line())
    lines.append(("", .columnTitle, "objects", "before", "after"))
    for count in receipt.entities {
      let isSame = count.before == count.after
      lines.append(
        (
          isSame ? " " : "!", isSame ? .text : .warning, count.entity,
          NumberText.grouped(count.before), NumberText.grouped(count.after)
        ))
    }
    if !receipt.edges.isEmpty {
      lines.append(line())
      lines.append(("", .columnTitle, "links", "", "after"))
      for (name, count) in receipt.edges.sorted(by: { $0.key < $1.key }) {
        lines.append((" ", .text, name, "", NumberText.grouped(count)))
      }
    }
    if !receipt.verified.isEmpty {
      lines.append(line())
      lines.append(("", .columnTitle, "verified", "", "compared"))
      for verified in receipt.verified {
        lines.append(("✓", .success, verified.what, "", NumberText.grouped(verified.count)))
      }
    }
    for loss in receipt.losses {
      lines.append(
        ("!", .warning, "lost, as accepted: \(loss.name)", "", NumberText.grouped(loss.values)))
    }
    if !receipt.notes.isEmpty { lines.append(line()) }
    for note in receipt.notes { lines.append(line(note, .dim)) }
    return lines
  }

  private static func drawReceipt(
    _ state: State, _ receipt: MigrationReceipt, with theme: Theme, in grid: inout Grid,
    _ rect: Rect
  ) {
    let lines = receiptLines(receipt)
    let inside = grid.box(
      rect, style: theme[.borderFocused], title: [Span("receipt", theme[.title])]
    ).inset(horizontally: 1, vertically: 0)
    var list = state.migrate.receiptList
    list.setCount(lines.count)
    list.setHeight(max(1, inside.height))
    let number = 12
    for (position, index) in list.visible.enumerated() {
      let line = lines[index]
      let place = inside.row(position)
      let hasNumbers = !line.before.isEmpty || !line.after.isEmpty
      let room = hasNumbers ? min(place.width - 2 * number - 3, 50) : place.width - 2
      grid.write(line.sign, at: place.origin, style: theme[line.role])
      grid.write(
        line.text, at: Point(x: place.x + 2, y: place.y), style: theme[line.role], within: room)
      guard hasNumbers else { continue }
      let before = Rect(x: place.x + 2 + room, y: place.y, width: number, height: 1)
      let after = Rect(x: before.right, y: place.y, width: number, height: 1)
      grid.write(line.before, in: before, style: theme[line.role], align: .trailing)
      grid.write(line.after, in: after, style: theme[line.role], align: .trailing)
    }
  }
}
