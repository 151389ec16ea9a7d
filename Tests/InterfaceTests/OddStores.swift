import ManagedModel
import ManagedStore
import Terminal

@testable import Interface

extension Session {
  init(_ size: Size, answer: @escaping (Effect) throws -> [Message]?) throws {
    state = State(storePath: "Odd.sqlite", size: size, themeName: "mono")
    plan = nil
    otherAnswer = answer
    try send(.start)
  }

  /// A store of a model without entities, and no other version of it.
  static func empty(_ size: Size) throws -> Session {
    let model = try Model(entities: [])
    return try Session(size) { effect in
      switch effect {
      case .open(let id):
        [
          .answer(
            id,
            .opened(
              StoreSummary(
                path: "Odd.sqlite", fileName: "Odd.sqlite", model: model, modelMatches: true,
                uuid: "E", columns: [:])))
        ]
      case .versions(let id):
        [
          .answer(
            id,
            .versions([ModelVersion(name: "Odd", path: "", isStores: true, result: .success(model))]
            ))
        ]
      case .ask(let id, .count): [.answer(id, .counted([:]))]
      default: nil
      }
    }
  }

  /// A store that opens, of another model, of which nothing can be read.
  static func broken(_ size: Size) throws -> Session {
    let error = CoreDataError(
      .unreadable, "the database disk image is malformed", path: "Odd.sqlite",
      hint: "Put a backup in its place.")
    return try Session(size) { effect in
      switch effect {
      case .open(let id):
        var summary = try SampleStore.summary()
        summary.modelMatches = false
        summary.warnings = ["The -wal file is of another store.", "Page 7 is damaged."]
        return [.answer(id, .opened(summary))]
      case .versions(let id):
        return [
          .answer(
            id,
            .versions([
              ModelVersion(
                name: "Recipes 1", path: "", isStores: true,
                result: .success(try SampleStore.model(1))),
              ModelVersion(
                name: "Recipes 2", path: "Recipes.xcdatamodeld@Recipes 2", isCurrent: true,
                result: .failure(error)),
            ]))
        ]
      case .ask(let id, .count), .ask(let id, .rows), .ask(let id, .object), .plan(let id, _),
        .compute(let id, .compare), .diagnose(let id):
        return [.failed(id, error)]
      default: return nil
      }
    }
  }
}
