import ManagedModel

/// How far a migration is: a complete picture each time, never a change to the one before.
public struct MigrationProgress: Sendable, Equatable {
  /// A part of the work with its own bar.
  public struct Part: Sendable, Equatable {
    /// What a part does.
    public enum Kind: String, Sendable {
      case copy, entity, relationships, indexes, verify, replace, edit
    }
    /// What a part counts.
    public enum Unit: String, Sendable { case bytes, rows, items }

    /// What the part does.
    public var kind: Kind
    /// The entity's name for an entity mapping, else what is done.
    public var title: String
    /// What ``done`` and ``total`` count.
    public var unit: Unit
    /// Units done.
    public var done = 0
    /// Units there are, as far as is known.
    public var total: Int
    /// Seconds this part has taken so far; 0 while it waits.
    public var seconds = 0.0
    /// Whether the part is over.
    public var isFinished = false

    /// A part; without more, one that waits.
    package init(
      kind: Kind, title: String, unit: Unit, done: Int = 0, total: Int, seconds: Double = 0,
      isFinished: Bool = false
    ) {
      (self.kind, self.title, self.unit) = (kind, title, unit)
      (self.done, self.total, self.seconds, self.isFinished) = (done, total, seconds, isFinished)
    }

    /// Units a second; `nil` before anything is done.
    public var rate: Double? { seconds > 0 && done > 0 ? Double(done) / seconds : nil }

    /// Seconds left at the present rate.
    public var remaining: Double? {
      isFinished ? 0 : rate.map { Double(max(0, total - done)) / $0 }
    }
  }

  /// Which of the steps of a chain this is, counted from 1.
  public var step = 1
  /// Steps there are.
  public var steps = 1
  /// All parts of this step, those to come included.
  public var parts: [Part]
  /// Index of the part at work.
  public var current = 0
  /// Seconds since the migration began.
  public var elapsed = 0.0
  /// Rows handled in all, and bytes written in all.
  public var rows = 0
  /// Bytes written so far.
  public var bytesWritten = 0

  /// Part of the work that is done, 0…1: every part weighs by its kind, since a row verified costs
  /// less than one rewritten.
  public var fraction: Double {
    let weights = parts.map { part -> Double in
      switch part.kind {
      case .copy: 3
      case .entity: 3 * Double(part.total + 1) / Double(entityRows + 1)
      case .relationships, .indexes, .edit: 1
      case .verify: 2
      case .replace: 0.1
      }
    }
    let all = weights.reduce(0, +)
    guard all > 0 else { return 0 }
    let done = zip(parts, weights).reduce(0.0) { sum, next in
      let (part, weight) = next
      let share =
        part.isFinished ? 1 : part.total > 0 ? min(1, Double(part.done) / Double(part.total)) : 0
      return sum + weight * share
    }
    return done / all
  }

  private var entityRows: Int { parts.filter { $0.kind == .entity }.reduce(0) { $0 + $1.total } }

  /// Seconds left of the whole, from what the done part took; `nil` while that says little.
  public var remaining: Double? {
    let fraction = fraction
    return fraction > 0.02 ? elapsed / fraction * (1 - fraction) : nil
  }
}

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
    hint: "The store is unchanged.")

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
  package func advance(by count: Int) throws {
    let current = progress.current
    guard progress.parts.indices.contains(current) else { return try checkCancelled() }
    progress.parts[current].done += count
    if progress.parts[current].kind == .entity { progress.rows += count }
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
