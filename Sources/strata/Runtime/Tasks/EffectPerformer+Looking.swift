import Images
import Interface
import ManagedModel
import ManagedStore

extension EffectPerformer {
  /// Answers a question of a popup's or of the inspector's.
  func look(_ id: TaskID, _ request: LookRequest) {
    let mailbox = mailbox
    let (own, shown) = (survey, shown)
    start(id) { [pages = shown.pages, survey = shown.survey] in
      let answer: LookAnswer
      switch request {
      case .facts: answer = .facts(try await own.facts())
      case .transactions(let before):
        answer = .transactions(try await own.transactions(before: before))
      case .changes(let number, let after):
        answer = .changes(
          of: number,
          try await own.ask { try $0.changes(of: number, after: after, limit: 200) })
      case .frequencies(let entity, let path, let filter):
        answer = .frequencies(
          try await survey.ask { try $0.frequencies(of: path, in: entity, where: filter) })
      case .search(let text):
        try await survey.ask { store in
          try store.search(for: text, isCancelled: { Task.isCancelled }) {
            mailbox.post(.answer(id, .looked(.searching($0))))
          }
        }
        return nil
      case .content(let object, let property, let offset, let count):
        answer = .content(
          try await pages.ask {
            try $0.content(of: property, in: object, from: offset, count: count)
          })
      case .find(let text, let object, let property, let offset, let backwards):
        answer = .found(
          try await survey.ask {
            try $0.find(
              text, in: property, of: object, from: offset, backwards: backwards,
              isCancelled: { Task.isCancelled })
          })
      case .picture(let object, let property, let size):
        let content = try await pages.ask {
          try $0.content(of: property, in: object, from: 0, count: ImageDecoder.byteLimit)
        }
        guard let content else { throw CoreDataError(.usage, "there is no picture") }
        do {
          answer = .picture(try ImageDecoder.decode(content.bytes, fitting: size))
        } catch {
          throw CoreDataError(.unreadable, "\(error)")
        }
      case .copy(let form, let subject):
        answer = .copied(try await pages.ask { try CopyText(store: $0).text(form, of: subject) })
      case .export(let request):
        let exported = try await survey.export(request) { done, total in
          mailbox.post(.answer(id, .looked(.exporting(done: done, total: total))))
        }
        answer = exported.map { .exported(request, rows: $0.rows, bytes: $0.bytes) } ?? .fileExists
      }
      return .looked(answer)
    }
  }
}
