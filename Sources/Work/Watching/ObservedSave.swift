import Comparison
import ManagedStore

/// Which changes of a store to report.
public struct WatchRequest: Sendable, Equatable {
  /// Entities to report, with those below them; empty for all.
  public var entities: [String] = []
  /// A predicate over the reported entities: an object counts if it matches before or after a save.
  public var predicate: String?
  /// How many objects of one save are reported with their values; all are counted.
  public var limit = 20
  /// Bytes of a store that is copied at once; `nil` for any.
  ///
  /// Where the file system shares blocks, a copy takes no room, and every store is copied.
  public var mostCopied: Int?

  /// A request for everything.
  public init() {}
}

/// What one save changed, or several that cannot be told apart any more.
public struct ObservedSave: Sendable, Equatable {
  /// When it was saved, where persistent history says so; else when it was noticed. Seconds since 2001-01-01 UTC.
  public var time: Double
  /// How many saves came together: 1 where it is one; `nil` where nothing counts them.
  public var saves: Int?
  /// The transactions of persistent history that came with it, oldest first.
  public var transactions: [HistoryTransaction] = []
  /// How many objects of each entity differ, in the order of ``changes``; entities without a change are left out.
  public var counts: [ComparisonSummary.EntityCount] = []
  /// The first objects that differ, as many as the request's limit.
  public var changes: [ObjectChange] = []
  /// How many objects beyond ``changes`` were passed on as they were found.
  public var passed = 0
  /// Whether all objects of the store were compared to find it.
  public var isWhole = false

  /// So many saves in words; `nil` where nothing counts them.
  package static func text(of saves: Int?) -> String {
    saves.map { NumberText.counted($0, "save") } ?? "one save or more"
  }

  /// Who saved: the author of the first transaction that has one.
  public var author: String? { transactions.lazy.compactMap(\.author).first }
  /// The process that saved, as the first transaction names it.
  public var process: String? { transactions.lazy.compactMap { $0.process ?? $0.bundle }.first }
  /// How many objects differ.
  public var count: Int { counts.reduce(0) { $0 + $1.count } }
  /// How many objects differ beyond those in ``changes`` and those that were passed on.
  public var rest: Int { max(0, count - changes.count - passed) }

  /// Orders what was found in parts.
  mutating func sort() {
    counts.sort { $0.entity.precedes($1.entity) }
    changes.sort { one, other in
      guard one.entity == other.entity else { return one.entity.precedes(other.entity) }
      return ((one.b ?? one.a)?.key ?? 0) < ((other.b ?? other.a)?.key ?? 0)
    }
  }
}

/// Takes what is found, as it is found.
struct SaveOutlet {
  /// What threw where something was taken: it is the caller's, and says nothing of the store.
  struct Failure: Error { let error: any Error }

  /// Objects of one save that are reported.
  let limit: Int
  /// Takes objects of a save that it does not keep; without it, it keeps all.
  let passing: ((ObjectChange) throws -> Void)?
  /// Takes a whole save.
  let report: (ObservedSave) throws -> Void

  /// Objects that a save keeps where others are passed on.
  private static let mostKept = 1000

  /// Takes an object that differs, which is counted already.
  func add(_ change: ObjectChange, to save: inout ObservedSave) throws {
    guard save.changes.count + save.passed < limit else { return }
    guard let passing, save.changes.count >= Self.mostKept else {
      return save.changes.append(change)
    }
    save.passed += 1
    do { try passing(change) } catch { throw Failure(error: error) }
  }

  /// Takes a save in which objects differ.
  func add(_ save: ObservedSave) throws {
    guard save.count > 0 else { return }
    do { try report(save) } catch { throw Failure(error: error) }
  }
}

/// Something other than a save that a watch noticed.
public enum WatchNotice: Sendable, Equatable {
  /// Why all objects were compared.
  public enum Reason: Sendable, Equatable {
    /// Another file has the store's name.
    case replaced
    /// The file was vacuumed, or its tables were changed.
    case rebuilt
    /// So much was saved at once, or in such a way, that single rows were not followed.
    case unfollowed
  }

  /// No store has the name any more; it is waited for.
  case gone
  /// The store is there again.
  case back
  /// A link has the name now; it is not followed.
  case link
  /// Another user owns the file.
  case owner(from: UInt32, to: UInt32)
  /// All objects were compared.
  case compared(Reason)
  /// Programs save faster than saves can be read: they are reported later.
  case behind
  /// The file cannot be read as a store, for the reason given; it is read again when it changes.
  case unreadable(CoreDataError)

  /// What happened, as a sentence.
  public var sentence: String {
    switch self {
    case .gone: "The store is gone. Waiting for it to come back."
    case .back: "The store is back."
    case .link: "The path is a link now, which is not followed. Waiting for the store to come back."
    case .owner(let from, let to):
      "The store belonged to user \(from) and now belongs to user \(to)."
    case .compared(.replaced): "The store was replaced by another file: all objects were compared."
    case .compared(.rebuilt):
      "The store was vacuumed or its tables were changed: all objects were compared."
    case .compared(.unfollowed):
      "What was saved could not be followed row by row: all objects were compared."
    case .behind:
      "Programs save faster than saves can be read. What they change is reported later."
    case .unreadable(let error):
      "The store cannot be read now: \(error.message). Waiting for it to change."
    }
  }
}
