import Dispatch
import Interface
import ManagedModel
import ManagedStore
import Migration
import Synchronization

/// Does what the interface asks for, away from the loop, and posts the answers.
final class EffectPerformer: Sendable {
  private struct Running {
    var tasks: [TaskID: Task<Void, Never>] = [:]
    var migrations: [TaskID: MigrationStream] = [:]
    /// Whether a second handle would cost a second private copy of the store.
    var isSnapshot = false
  }

  private let mailbox: Mailbox
  /// Pages and objects, which the person waits for.
  private let pages: StoreSession
  /// Counts and plans, which take long.
  private let surveys: StoreSession
  private let running = Mutex(Running())

  init(source: StoreSource, mailbox: Mailbox) {
    self.mailbox = mailbox
    pages = StoreSession("pages", source: source)
    surveys = StoreSession("surveys", source: source)
  }

  func perform(_ effect: Effect) {
    switch effect {
    case .open(let id):
      start(id) { [self] in
        await surveys.close()
        let summary = try await pages.open()
        running.withLock { $0.isSnapshot = summary.access == .snapshot }
        return .opened(id, summary)
      }
    case .count(let id):
      start(id) { [self, mailbox] in
        try await survey.count { mailbox.post(.counted(id, $0)) }
        return nil
      }
    case .rows(let id, let query):
      start(id) { [pages] in .rows(id, try await pages.rows(query)) }
    case .object(let id, let object):
      start(id) { [pages] in .object(id, try await pages.object(object)) }
    // Rows
    case .countRows(let id, let query):
      start(id) { [self] in .countedRows(id, try await survey.count(query)) }
    case .countBefore(let id, let query, let cursor):
      start(id) { [self] in .countedRows(id, try await survey.count(before: cursor, in: query)) }
    case .place(let id, let query, let place):
      start(id) { [pages] in .placed(id, try await pages.rows(around: place, in: query)) }
    case .versions(let id):
      start(id) { [self] in .versions(id, try await survey.versions()) }
    case .compare(let id, let source, let destination):
      start(id) { .compared(id, Comparison(from: source, to: destination)) }
    case .plan(let id, let from, let version):
      start(id) { [self] in .planned(id, try await survey.plan(from: from, to: version)) }
    case .migrate(let id, let plan, let options): migrate(id, plan, options)
    case .cancel(let id):
      let (task, migration) = running.withLock { ($0.tasks[id], $0.migrations[id]) }
      if let migration { migration.cancel() } else { task?.cancel() }
    case .repaint, .suspend, .quit: break
    }
  }

  private var survey: StoreSession {
    running.withLock { $0.isSnapshot } ? pages : surveys
  }

  /// Whether the engine is at work.
  var isMigrating: Bool { running.withLock { !$0.migrations.isEmpty } }

  /// Stops everything, waits for a migration to tidy up, and lets go of the store.
  func close() {
    let (tasks, migrations) = running.withLock {
      (Array($0.tasks.values), Array($0.migrations.values))
    }
    for migration in migrations { migration.cancel() }
    // A migration's task ends when the engine has; the others are to stop where they are.
    if migrations.isEmpty { for task in tasks { task.cancel() } }
    let done = DispatchSemaphore(value: 0)
    Task { [pages, surveys] in
      for task in tasks { await task.value }
      await pages.close()
      await surveys.close()
      done.signal()
    }
    _ = done.wait(timeout: .now() + .seconds(migrations.isEmpty ? 3 : 60))
  }

  private func migrate(_ id: TaskID, _ plan: MigrationPlan, _ options: MigrationOptions) {
    let stream = MigrationStream(plan, options: options)
    running.withLock { $0.migrations[id] = stream }
    start(id) { [self, mailbox, pages, surveys] in
      // Our own handles must not be what keeps the store from being replaced.
      await pages.close()
      await surveys.close()
      defer { running.withLock { _ = $0.migrations.removeValue(forKey: id) } }
      var receipt: MigrationReceipt?
      for try await event in stream.events() {
        switch event {
        case .progress(let progress): mailbox.post(.progress(id, progress))
        case .receipt(let final): receipt = final
        }
      }
      guard let receipt else {
        throw CoreDataError(.failed, "the migration ended without a receipt")
      }
      return .migrated(id, receipt)
    }
  }

  private func start(_ id: TaskID, _ body: @escaping @Sendable () async throws -> Message?) {
    running.withLock { running in
      running.tasks[id] = Task { [self, mailbox] in
        do {
          if let message = try await body() { mailbox.post(message) }
        } catch let error as CoreDataError {
          mailbox.post(.failed(id, error))
        } catch is CancellationError {
          mailbox.post(.failed(id, CoreDataError(.cancelled, "cancelled")))
        } catch {
          mailbox.post(.failed(id, CoreDataError(.failed, "\(error)")))
        }
        self.running.withLock { _ = $0.tasks.removeValue(forKey: id) }
      }
    }
  }
}
