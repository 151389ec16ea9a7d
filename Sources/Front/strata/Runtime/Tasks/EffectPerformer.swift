import Commands
import Dispatch
import Files
import Images
import Interface
import ManagedModel
import ManagedStore
import Migration
import ModelSearch
import Synchronization

/// Does what the interface asks for, away from the loop, and posts the answers.
final class EffectPerformer: Sendable {
  struct Running {
    var tasks: [TaskID: Task<Void, Never>] = [:]
    var migrations: [TaskID: MigrationStream] = [:]
    /// Whether a second handle would cost a second private copy of the store.
    var isSnapshot = false
    /// Rescues, which make files that go away when they are stopped.
    var rescues: Set<TaskID> = []
    /// Those that read what was deleted, once it was looked for, and whether they are asked.
    var remains: (pages: StoreSession, surveys: StoreSession)?
    var readsRemains = false
    /// Rollbacks that were asked to stop.
    var rollbacks: [TaskID: Bool] = [:]
    var watcher: Task<Void, Never>?
    /// When the store was opened again for another program's save the last time, and how long that took.
    var refreshed: (end: ContinuousClock.Instant, took: Duration)?
    /// Whether tidying up waits for the first screen, and whether it is due then.
    var (holdsTidying, isTidyingDue) = (true, false)
  }

  let mailbox: Mailbox
  /// Pages and objects, which the person waits for.
  let pages: StoreSession
  /// Counts and plans, which take long.
  let surveys: StoreSession
  let path: String
  let running = Mutex(Running())
  /// What other programs save.
  let following: StoreFollowing
  let source: StoreSource
  /// What was deleted, once it was looked for.
  let remains = RemainsSession()
  let repairs = RepairSession()
  /// Where it is kept which stores were looked at.
  let sessions: SessionFolder?

  init(source: StoreSource, mailbox: Mailbox, sessions: SessionFolder? = nil) {
    self.sessions = sessions
    self.mailbox = mailbox
    self.source = source
    path = source.path
    pages = StoreSession("pages", source: source)
    surveys = StoreSession("surveys", source: source)
    following = StoreFollowing(source, mailbox)
  }

  func perform(_ effect: Effect) {
    if performLooking(effect) || performPlanning(effect) || performRescue(effect) { return }
    switch effect {
    case .open(let id):
      start(id) { [self] in
        await surveys.close()
        await forgetRemains()
        // Before it is read: a change meanwhile is one that was not seen.
        following.begin()
        let summary: StoreSummary
        do {
          summary = try await openBetweenWrites(attempts: 40)
        } catch {
          // Copies that an earlier run could not remove hold somebody's data.
          PrivateFolder.removeAbandoned()
          let known = CoreDataError(error, or: .failed)
          guard known.kind == .unreadable else { throw error }
          let answer = try await unopened(after: known)
          tidy()
          return answer
        }
        running.withLock { $0.isSnapshot = summary.access == .snapshot }
        follow()
        tidy()
        return .opened(summary)
      }
    case .refresh(let id): refresh(id)
    case .compare(let id, let path): compare(id, with: path)
    case .writeChanges(let id, let file): write(id, file)
    case .merge(let id, let order): merge(id, order)
    case .ask(let id, let request): ask(id, request)
    case .find(let id, let request): find(id, request)
    case .unlock(let id, let path, let password):
      start(id) { [mailbox] in
        let (listing, peeks) = try ContainerReading.unlock(path, with: password) {
          mailbox.post(.answer(id, .unlocking($0)))
        }
        return .unlocked(listing, peeks)
      }
    case .compute(let id, let computation):
      start(id) { try await Self.onQueue("strata.computation") { try computation.answer() } }
    case .names(let id, let request):
      start(id) { [pages, shown = shown.pages] in
        let found = try await shown.ask { try $0.names(for: request) }
        guard shown !== pages else { return .names(found) }
        // What a deleted object referenced mostly lives.
        let objects = LabelRequest(objects: request.objects, labels: request.labels)
        var names = (try? await pages.ask { try $0.names(for: objects) }) ?? ObjectNames()
        names.merge(found)
        return .names(names)
      }
    case .versions(let id):
      start(id) { [self] in .versions(try await survey.versions()) }
    case .migrate(let id, let plan, let options, let confirms):
      migrate(id, plan, options, confirms)
    case .confirmCutover(let id, let isConfirmed):
      running.withLock { $0.migrations[id] }?.answer(isConfirmed)
    case .recover(let id): recover(id)
    case .rollBack(let id, let options): rollBack(id, options)
    case .writeReceipt(let id, let receipt, let text, let path, let replaces):
      start(id) { [self] in
        let (file, beside) = try ReceiptFile.pair(path: path, replaces: replaces)
        try await write(receipt, to: file)
        try beside.write(Array(text.utf8))
        let folder = FileSystem.canonical(FileSystem.parent(of: path) ?? ".")
        return .wroteReceipt(path: folder + "/" + FileSystem.name(of: path))
      }
    case .cancel(let id):
      let (task, migration) = running.withLock { running in
        if running.rollbacks[id] != nil { running.rollbacks[id] = true }
        return (running.rollbacks[id] == nil ? running.tasks[id] : nil, running.migrations[id])
      }
      if let migration { migration.cancel() } else { task?.cancel() }
    case .picture, .copyText, .export, .writeValue, .plan, .rehearse, .writeRecipe, .diagnose,
      .rescue, .checkEdit, .readRemains, .sources:
      break
    case .keepTheme, .copy, .editText, .repaint, .suspend, .quit, .choose: break
    }
  }

  var survey: StoreSession {
    running.withLock { $0.isSnapshot } ? pages : surveys
  }

  /// Those that read what Browse shows.
  var shown: (pages: StoreSession, survey: StoreSession) {
    running.withLock {
      if $0.readsRemains, let remains = $0.remains { return (remains.pages, remains.surveys) }
      return (pages, $0.isSnapshot ? pages : surveys)
    }
  }

  /// Follows the store from now on, if nobody does.
  private func follow() {
    running.withLock { [following] running in
      if running.watcher == nil { running.watcher = Task { await following.run() } }
    }
  }

  /// The store is another one: what was found in it is let go.
  func forgetRemains() async {
    let former = running.withLock { running in
      defer { (running.remains, running.readsRemains) = (nil, false) }
      return running.remains
    }
    await former?.pages.close()
    await former?.surveys.close()
    await remains.close()
  }

  /// Whether the engine is at work.
  var isMigrating: Bool {
    running.withLock { !$0.migrations.isEmpty || !$0.rollbacks.isEmpty }
  }

  /// Stops everything, waits for a migration to tidy up, and lets go of the store.
  func close() {
    let isWriting = isMigrating || running.withLock { !$0.rescues.isEmpty }
    let (tasks, migrations) = running.withLock { running in
      for id in running.rollbacks.keys { running.rollbacks[id] = true }
      for id in running.rescues { running.tasks[id]?.cancel() }
      running.watcher?.cancel()
      return (Array(running.tasks.values), Array(running.migrations.values))
    }
    following.stop()
    for migration in migrations { migration.cancel() }
    // A migration's task ends when the engine has; the others are to stop where they are.
    if !isWriting { for task in tasks { task.cancel() } }
    let done = DispatchSemaphore(value: 0)
    Task { [self] in
      for task in tasks { await task.value }
      await forgetRemains()
      await pages.close()
      await surveys.close()
      done.signal()
    }
    _ = done.wait(timeout: .now() + .seconds(isWriting ? 60 : 3))
  }

  func start(_ id: TaskID, _ body: @escaping @Sendable () async throws -> Answer?) {
    running.withLock { running in
      running.tasks[id] = Task { [self, mailbox] in
        do {
          if let answer = try await body() { mailbox.post(.answer(id, answer)) }
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

extension EffectPerformer {
  /// Bytes of a file that a value may be.
  private static let mostTyped = 64 << 20

  /// Asks the store, or what Browse shows in its place.
  func ask(_ id: TaskID, _ request: StoreRequest) {
    let session =
      switch request.reader {
      case .pages: shown.pages
      case .survey: shown.survey
      case .own: survey
      }
    start(id) { [mailbox] in
      try await session.ask { store in
        try request.answer(from: store, localTime: LocalTime.text) {
          mailbox.post(.answer(id, $0))
        }
      }
    }
  }

  /// Looks for something in files.
  func find(_ id: TaskID, _ request: FileRequest) {
    switch request {
    case .models(let path): start(id) { [self] in .models(try await survey.models(at: path)) }
    case .completions(let path):
      start(id) { .completions(PathCompletion.paths(beginning: path)) }
    case .revisions(let path):
      start(id) {
        .revisions(try await Self.onQueue("strata.git") { try GitRevision.commits(changing: path) })
      }
    case .folder(let path):
      start(id) { [mailbox] in
        do {
          if let (listing, peeks) = try SimulatorReading.list(path) ?? ContainerReading.list(path) {
            mailbox.post(.answer(id, .folder(listing)))
            mailbox.post(.answer(id, .peeked(peeks)))
            return nil
          }
        } catch let locked as ContainerReading.Locked {
          return .locked(locked.backup)
        }
        let listing = try FolderReading.list(path)
        mailbox.post(.answer(id, .folder(listing)))
        try await FolderReading.peek(into: listing) { mailbox.post(.answer(id, .peeked($0))) }
        return nil
      }
    case .recentStores:
      start(id) { [sessions] in .recentStores(try await SessionFolder.recent(in: sessions)) }
    case .siblings:
      start(id) { [path] in
        .siblings(
          try await Self.onQueue("strata.siblings") { try FolderReading.siblings(of: path) })
      }
    case .bytes(let path):
      start(id) { .bytes(try FileSystem.read(path, limit: Self.mostTyped)) }
    case .backups: backups(id)
    case .footprint(let request):
      start(id) { [path] in .footprint(Footprint(request, of: path)) }
    // The loop has them.
    case .themes: break
    }
  }

  /// What is asked of the store and takes more than the store.
  ///
  /// - Returns: whether it was one of these.
  func performLooking(_ effect: Effect) -> Bool {
    switch effect {
    case .picture(let id, let object, let property, let size):
      start(id) { [pages = shown.pages] in
        let content = try await pages.ask {
          try $0.content(of: property, in: object, from: 0, count: ImageDecoder.byteLimit)
        }
        guard let content else { throw CoreDataError(.usage, "there is no picture") }
        do {
          return .picture(try ImageDecoder.decode(content.bytes, fitting: size))
        } catch {
          throw CoreDataError(.unreadable, "\(error)")
        }
      }
    case .copyText(let id, let form, let subject):
      start(id) { [pages = shown.pages] in
        .copied(try await pages.ask { try CopyText(store: $0).text(form, of: subject) })
      }
    case .export(let id, let request):
      start(id) { [mailbox, survey = shown.survey] in
        let exported = try await survey.export(request) { done, total in
          mailbox.post(.answer(id, .exporting(done: done, total: total)))
        }
        return exported.map { .exported(request, rows: $0.rows, bytes: $0.bytes) } ?? .fileExists
      }
    case .writeValue(let id, let value): write(id, value)
    default: return false
    }
    return true
  }

  /// Writes a value to a file of its own.
  private func write(_ id: TaskID, _ value: ValueOutput) {
    start(id) { [path, pages = shown.pages] in
      let file = ValueFile(object: value.object, property: value.property, path: value.path)
      let bytes = try await pages.ask { store in
        try file.write(from: store, besides: [path], isCancelled: { Task.isCancelled })
      }
      guard let bytes else {
        throw CoreDataError(
          .refused, "a file has that name: type another one", path: value.path)
      }
      guard bytes != nil else { throw CoreDataError(.usage, "there is no value any more") }
      return .written(path: value.path)
    }
  }
}

/// What Diff and Mapping ask for.
extension EffectPerformer {
  /// - Returns: whether it was one of theirs.
  func performPlanning(_ effect: Effect) -> Bool {
    switch effect {
    case .plan(let id, let request):
      start(id) { [survey, mailbox] in
        try await survey.answer(request) { mailbox.post(.answer(id, .outlined($0))) }
      }
    case .rehearse(let id, let plan, let options): rehearse(id, plan, options)
    case .writeRecipe(let id, let file):
      start(id) {
        try file.write()
        return .written(path: file.path)
      }
    default: return false
    }
    return true
  }

  /// A migration in all its parts, on a copy in a private folder.
  private func rehearse(_ id: TaskID, _ plan: MigrationPlan, _ options: MigrationOptions) {
    start(id) { [self] in
      let folder = try PrivateFolder()
      let place = folder.path
      var copied = plan
      copied.storePath = try await Self.onQueue("strata.copy") {
        try Rehearsal.copy(plan.storePath, to: place)
      }
      try Task.checkCancellation()
      let stream = MigrationStream(copied, options: options)
      running.withLock { $0.migrations[id] = stream }
      var receipt: MigrationReceipt
      do {
        receipt = try await self.receipt(of: stream, id)
      } catch var error as CoreDataError {
        // The copy's name says nothing to a person.
        if error.path?.hasPrefix(place) == true { error.path = plan.storePath }
        throw error
      }
      (receipt.storePath, receipt.resultPath) = (plan.storePath, plan.storePath)
      return withExtendedLifetime(folder) { .migrated(receipt) }
    }
  }
}

extension RecipeFile {
  /// Writes the mapping down.
  ///
  /// - Throws: ``CoreDataError`` of kind refused where a file is there that is not to be replaced.
  func write() throws {
    if let refusal = OutputPlace.refusal(toWrite: "the recipe", at: path) { throw refusal }
    guard overwrites || FileIdentity(of: path) == nil else {
      throw CoreDataError(.refused, "the file is there already", path: path)
    }
    let text = Recipe.text(
      of: step.mapping, from: from, to: to, source: step.source, destination: step.destination)
    try FileSystem.replace(path, with: Array(text.utf8), isPrivate: false)
  }
}
