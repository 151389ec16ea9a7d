import ManagedModel

/// Keeps the account of a running migration and reports it, a batch at a time.
package final class ProgressMeter {
  /// How far it is, without a report.
  package private(set) var progress = MigrationProgress(parts: [])
  private let report: (MigrationProgress) -> Void
  private let isCancelled: () -> Bool
  /// Of a clock that never goes back.
  private var start = SuspendingClock.now
  private var partStart = 0.0
  private var lastReport: SuspendingClock.Instant?
  /// A report every hundredth of a second is more than any screen shows.
  private static let interval = Duration.milliseconds(10)

  /// A meter that calls `report` and asks `isCancelled`.
  package init(isCancelled: @escaping () -> Bool, report: @escaping (MigrationProgress) -> Void) {
    self.isCancelled = isCancelled
    self.report = report
  }

  /// Seconds since it began, or since it was made to go on.
  package var elapsed: Double { (SuspendingClock.now - start) / .seconds(1) }

  /// Whether the person asked to stop; also asked by SQLite in the middle of long statements.
  package var shouldStop: Bool { isCancelled() }

  /// - Throws: ``CoreDataError`` of kind cancelled where the person asked to stop.
  package func checkCancelled() throws {
    if isCancelled() { throw Self.cancelled }
  }

  /// What is thrown then.
  package static let cancelled = CoreDataError(
    .cancelled, code: .migrationCancelled, "cancelled",
    hint: "Nothing was changed: the store is as it was.")

  /// Goes on to a step of a chain, with parts of its own.
  package func begin(step: Int, of steps: Int, parts: [MigrationProgress.Part]) throws {
    try checkCancelled()
    progress.step = step
    progress.steps = steps
    progress.parts = parts
    progress.current = 0
    partStart = elapsed
    send(always: true)
  }

  /// Starts the part of that kind and title; the one at work until now is finished.
  package func begin(_ kind: MigrationProgress.Part.Kind, title: String? = nil) throws {
    try checkCancelled()
    guard
      let index = progress.parts.firstIndex(where: {
        $0.kind == kind && (title == nil || $0.title == title)
      })
    else { return }
    if index != progress.current { finishCurrent() }
    progress.current = index
    partStart = elapsed
    send(always: true)
  }

  /// Adds to what the present part has done.
  package func advance(by count: Int, bytes: Int = 0) throws {
    let current = progress.current
    guard progress.parts.indices.contains(current) else { return try checkCancelled() }
    progress.parts[current].done += count
    if progress.parts[current].kind == .entity { progress.rows += count }
    progress.bytesWritten += bytes
    send(always: false)
    try checkCancelled()
  }

  /// Sets what the present part has done, and how much it is in all.
  package func update(done: Int, total: Int, bytes: Int) throws {
    guard progress.parts.indices.contains(progress.current) else { return try checkCancelled() }
    progress.parts[progress.current].total = total
    progress.parts[progress.current].done = done
    progress.bytesWritten = bytes
    send(always: false)
    try checkCancelled()
  }

  /// Waits for something else, such as a person, with the clock stopped.
  package func pausing<T>(_ body: () throws -> T) rethrows -> T {
    let begin = SuspendingClock.now
    defer { start += SuspendingClock.now - begin }
    return try body()
  }

  /// All parts are done.
  package func finish() {
    finishCurrent()
    for index in progress.parts.indices {
      progress.parts[index].done = progress.parts[index].total
      progress.parts[index].isFinished = true
    }
    send(always: true)
  }

  private func finishCurrent() {
    let current = progress.current
    guard progress.parts.indices.contains(current) else { return }
    progress.parts[current].done = progress.parts[current].total
    progress.parts[current].isFinished = true
    progress.parts[current].seconds = elapsed - partStart
  }

  private func send(always: Bool) {
    let instant = SuspendingClock.now
    if !always, let lastReport, instant - lastReport < Self.interval { return }
    lastReport = instant
    let now = elapsed
    progress.elapsed = now
    if progress.parts.indices.contains(progress.current),
      !progress.parts[progress.current].isFinished
    {
      progress.parts[progress.current].seconds = now - partStart
    }
    report(progress)
  }
}
