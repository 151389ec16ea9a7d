import ManagedModel
import Migration
import Reports
import Terminal

/// A whole migration on a copy that goes away: its progress, then what it came to.
struct RehearsalLayer: WaitingLayer {
  enum Phase: Sendable, Equatable {
    case running(MigrationProgress?, isCancelling: Bool)
    case done(MigrationReceipt)
    case failed(CoreDataError)
  }

  let steps: [MigrationStep]
  var task: TaskID?
  var phase = Phase.running(nil, isCancelling: false)
  var list = List()

  init(_ plan: MigrationPlan) { steps = plan.steps }

  func bindings(_ context: Context) -> [Binding] {
    if case .running(_, let isCancelling) = phase {
      return [
        Binding(
          [.escape, "q"], "stop", asks("cancel") { $0.cancel(in: &$1) ?? [] },
          unless: isCancelling ? "it is being stopped" : nil)
      ]
    }
    let isDone = if case .done = phase { true } else { false }
    return [
      scrolling { layer, key, context in
        guard case .done(let receipt) = layer.phase else { return }
        layer.list.scrollPage(
          key, count: layer.lines(receipt).count, height: context.body.height - 6)
      },
      Binding(
        ["y"], "copy", asks("copy") { $0.copy(in: &$1) },
        unless: isDone ? nil : "there is no receipt"),
      closing([.escape, "q", .enter]),
    ]
  }

  private func copy(in context: inout Context) -> [Effect] {
    if case .done(let receipt) = phase,
      let layer = CopyLayer(CopyLayer.choices(receipt, Report(receipt, .rehearsed)))
    {
      context.show(layer)
    }
    return []
  }

  mutating func take(_ answer: Answer, in context: inout Context) -> [Effect] {
    switch answer {
    case .progress(let progress):
      guard case .running(_, let isCancelling) = phase else { return [] }
      phase = .running(progress, isCancelling: isCancelling)
    case .migrated(let receipt): phase = .done(receipt)
    default: break
    }
    return []
  }

  mutating func fail(_ error: CoreDataError, in context: inout Context) -> [Effect] {
    phase = .failed(error)
    return []
  }

  mutating func cancel(in context: inout Context) -> [Effect]? {
    guard case .running(let progress, _) = phase, let task else { return nil }
    phase = .running(progress, isCancelling: true)
    context.notice = Notice("stopping the rehearsal", .warning)
    return [.cancel(task)]
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let size = Size(width: max(1, rect.width - 8), height: max(1, rect.height - 4))
    switch phase {
    case .running(let progress, let isCancelling):
      let inside = Popup("Rehearsal on a copy", size: size).draw(in: &grid, rect, theme: theme)
      let foot =
        isCancelling
        ? Span("stopping …", theme[.warning])
        : Span("the store is only read; ^C stops and removes the copy", theme[.dim])
      MigrationProgressView(
        verb: "rehearsing", steps: steps, progress: progress, foot: foot
      ).draw(in: &grid, inside, theme: theme)
    case .done(let receipt):
      let inside = Popup("✓ Rehearsed; the store is unchanged", size: size)
        .draw(in: &grid, rect, theme: theme)
      drawReceipt(receipt, with: theme, in: &grid, inside)
    case .failed(let error):
      let inside = Popup("✗ The rehearsal did not finish", size: size)
        .draw(in: &grid, rect, theme: theme)
      let isStopped = error.kind == .cancelled
      var lines = Wrapping.lines(
        isStopped ? "It was stopped." : error.message, isStopped ? .warning : .error,
        width: inside.width)
      if !isStopped, let hint = error.typedHint {
        lines += Wrapping.lines("→ " + hint, .success, width: inside.width)
      }
      lines.append(("The store is unchanged; the copy was removed.", .dim))
      grid.write(lines, in: inside, theme: theme)
    }
  }

  private func lines(_ receipt: MigrationReceipt) -> [ReportView.Line] {
    ReportView.lines(Report(receipt, .rehearsed))
  }

  private func drawReceipt(
    _ receipt: MigrationReceipt, with theme: Theme, in grid: inout Grid, _ inside: Rect
  ) {
    let text =
      "The store is unchanged; the copy was removed. To migrate the store: Esc, m, ⏎, y."
    let head = Wrapping.lines(text, width: inside.width)
    grid.write(head, in: inside, style: theme[.success])
    let rest = inside.droppingRows(head.count + 1)
    ReportView.draw(lines(receipt), list, in: &grid, rest, theme: theme)
  }
}
