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
