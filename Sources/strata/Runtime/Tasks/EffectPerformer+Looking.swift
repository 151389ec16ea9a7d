import Images
import Interface
import ManagedModel
import ManagedStore

/// Questions about the store whose answers take more than the store.
extension EffectPerformer {
  /// - Returns: whether it was one of them.
  func performLooking(_ effect: Effect) -> Bool {
    switch effect {
    case .ask(let id, let request):
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
