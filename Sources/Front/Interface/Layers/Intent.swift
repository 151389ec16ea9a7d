import Migration
import Rescue

/// What is done once a popup is answered.
enum Intent: Sendable, Equatable {
  case quit
  case discardResult
  /// Goes to the choice of another store.
  case leaveStore
  case migrate
  case confirmCutover
  case rollBack(BackupEntry)
  case rescue(RescueWork)
  /// Puts right what an interrupted run left.
  case recover
  /// Asks for the number of objects that the app will delete on all devices.
  case confirmDeletions(EditOrder, count: Int)
  /// The new store is where the text says; a question comes first.
  case salvage(SalvageOrder)
  case restore(RestoreOrder)
  /// The work again, with the model that the text names.
  case retry(RescueWork)
  /// Asks where deleted objects are restored into.
  case askToRestore(RestoreOrder)
  case undelete
  case repair(RepairOrder, of: Set<FindingKind>)
  case accept([Loss])
  case delete(String)
  /// Writes a recipe to the path that the text is.
  case write(RecipeFile)

  /// - Parameter text: what was typed, where the popup asked for a text.
  func run(_ text: String = "", in state: inout State) -> [Effect] {
    switch self {
    case .quit:
      let working = Screen.allCases.filter { state[$0].work != nil }
      return working.flatMap { state.on($0) { $0.cancel(in: &$1) } ?? [] } + [.quit]
    case .leaveStore: return [.choose(nil)]
    case .discardResult: return state.on(MigrateScreen.self) { screen, _ in screen.discard() }
    case .migrate: return state.on(MigrateScreen.self) { $0.start(in: &$1) }
    case .confirmCutover: return state.on(MigrateScreen.self) { $0.cutOver(in: &$1) }
    case .rollBack(let entry):
      return state.on(MigrateScreen.self) { $0.rollBack(to: entry, in: &$1) }
    case .rescue(let work): return state.on(RescueScreen.self) { $0.start(work, in: &$1) }
    case .recover: return state.recover()
    case .confirmDeletions(let order, let count):
      state.show(PromptLayer.deleteEverywhere(order, count: count))
    case .salvage(var order):
      order.output = text
      return state.confirm(.salvage(order, state.known))
    case .restore(var order):
      order.output = text
      return state.confirm(.restore(order, state.known))
    case .retry(let work):
      guard let work = work.taking(model: text) else { return [] }
      if case .salvage(let order) = work { return state.confirm(.salvage(order, state.known)) }
      return state.on(RescueScreen.self) { $0.start(work, in: &$1) }
    case .askToRestore(let order): state.show(PromptLayer.restore(order, state.known))
    case .undelete:
      return RescueScreen.work(on: &state) { .stay($0.undelete(in: &$1)) }
    case .repair(let order, let kinds): return state.confirm(.repair(order, of: kinds, state.known))
    case .accept(let losses):
      return state.on(MappingScreen.self) { $0.allow(losses, in: &$1) }
    case .delete(let entity):
      return state.on(MappingScreen.self) { $0.apply([.delete(entity)], in: &$1) }
    case .write(var file):
      file.path = text
      return state.on(MappingScreen.self) { $0.write(file, in: &$1) }
    }
    return []
  }
}

extension RescueWork {
  /// The model that was given for it.
  var model: String? {
    switch self {
    case .salvage(let order): order.model
    case .search(_, let model): model
    case .restore, .repair, .edit: nil
    }
  }

  /// The same with a model; `nil` where none can be given.
  func taking(model: String) -> RescueWork? {
    switch self {
    case .salvage(var order):
      order.model = model
      return .salvage(order)
    case .search(let thenShow, _): return .search(thenShow: thenShow, model: model)
    case .restore, .repair, .edit: return nil
    }
  }
}
