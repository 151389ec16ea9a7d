import Files
import Images
import Interface
import ManagedModel
import ManagedStore
import ModelSearch

extension EffectPerformer {
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
        if let (listing, peeks) = try ContainerReading.list(path) {
          mailbox.post(.answer(id, .folder(listing)))
          mailbox.post(.answer(id, .peeked(peeks)))
          return nil
        }
        let listing = try FolderReading.list(path)
        mailbox.post(.answer(id, .folder(listing)))
        try await FolderReading.peek(into: listing) { mailbox.post(.answer(id, .peeked($0))) }
        return nil
      }
    case .recentStores:
      start(id) { [sessions] in .recentStores(try await SessionFolder.recent(in: sessions)) }
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
    default: return false
    }
    return true
  }
}
