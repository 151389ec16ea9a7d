import ManagedModel
import ManagedStore
import Rescue
import Terminal

/// What is wrong with the store, what of it can be had, and what can be done.
struct RescueScreen: ScreenContent {
  static let title = "Rescue"
  static let command: String? = "strata doctor STORE"

  enum Phase: Sendable, Equatable {
    /// The findings are looked at.
    case findings
    case running(RescueWork, RescueProgress?, isCancelling: Bool)
    case done(RescueReceipt)
  }

  enum Pane: Int, Sendable, CaseIterable {
    case findings, details, holdings
  }

  var phase = Phase.findings
  var focus = Pane.findings
  /// `nil` before doctor has reported.
  var condition: StoreCondition?
  /// `nil` before the objects are counted, or where they cannot be.
  var holdings: [EntityHolding]?
  /// Why doctor reported nothing.
  var failure: CoreDataError?
  var list = List()
  var detailList = List()
  var holdingList = List()
  var receiptList = List()
  /// What the last piece of work came to, for showing it again.
  private(set) var lastReceipt: RescueReceipt?
  /// New stores that were made.
  private(set) var made: Set<String> = []
  /// The first object that was edited, to go back to it.
  private(set) var edited: ObjectID?
  /// Whether the work was asked for in Browse.
  private var isAskedInBrowse = false
  /// Looks for what is wrong.
  var lookTask: TaskID?
  /// Does something about it.
  var task: TaskID?

  var running: RescueWork? {
    if case .running(let work, _, _) = phase { work } else { nil }
  }

  var work: String? { running?.name }

  var badge: String? {
    guard case .running(let work, let progress, _) = phase else { return nil }
    let percent = progress.map { "\(Int($0.fraction * 100)) %" } ?? "…"
    return "▶ \(work.noun) \(percent)"
  }

  var receipt: RescueReceipt? {
    if case .done(let receipt) = phase { receipt } else { nil }
  }

  var selectedFinding: Finding? {
    phase == .findings ? condition?.findings.element(list.selected) : nil
  }
}

extension RescueScreen {
  mutating func meet(_ occasion: Occasion, in context: inout Context) -> [Effect] {
    switch occasion {
    case .opened:
      let effects = forget()
      return context.screen == Screen(RescueScreen.self) ? effects + look(in: &context) : effects
    case .shown: return look(in: &context)
    case .resized, .settled:
      fit(context)
      return []
    case .versions, .moreVersions: return []
    }
  }

  /// The store is another one now: what was found of the former holds no more.
  private mutating func forget() -> [Effect] {
    (condition, holdings, failure) = (nil, nil, nil)
    return lookTask.stop() ?? []
  }

  /// Has doctor look, unless that was done.
  mutating func look(in context: inout Context) -> [Effect] {
    guard condition == nil, failure == nil, lookTask == nil, context.openTask == nil,
      running == nil, context.work(of: .migrate) == nil
    else { return [] }
    return context.ask(&lookTask) { .diagnose($0) }
  }

  /// Has doctor look once more.
  mutating func lookAgain(in context: inout Context) -> [Effect] {
    let effects = forget()
    return effects + look(in: &context)
  }

  /// Shows what a piece of work came to.
  mutating func show(_ receipt: RescueReceipt) {
    phase = .done(receipt)
    lastReceipt = receipt
    if let output = receipt.output { made.insert(output) }
    receiptList = List()
  }

  /// The store does not open, and this is why.
  mutating func take(_ condition: StoreCondition, _ context: Context) {
    self.condition = context.copy.map { condition.of($0, of: context.storePath) } ?? condition
    (holdings, failure) = (nil, nil)
    list = List(count: condition.findings.count)
  }

  mutating func take(_ answer: Answer, to task: TaskID, in context: inout Context) -> [Effect] {
    switch answer {
    case .diagnosed(let condition) where task == lookTask:
      take(condition, context)
    case .held(let holdings) where task == lookTask:
      lookTask = nil
      let (remains, keys) = (context.remains.remains, condition?.deletions?.keys ?? [:])
      self.holdings = holdings.map { own in
        let own = own.with(unused: keys)
        return (remains.map { own.with($0) } ?? own).inOrder
      }
    case .rescuing(let progress) where task == self.task:
      guard case .running(let work, _, let isCancelling) = phase else { break }
      phase = .running(work, progress, isCancelling: isCancelling)
    case .found(let remains) where task == self.task:
      self.task = nil
      let isShown = if case .search(true, _)? = running { true } else { false }
      phase = .findings
      context.take(remains)
      context.notice = Notice(
        remains.summary + (remains.isEmpty || isShown ? "" : "; D shows them, u restores them"),
        remains.isEmpty ? .warning : .success)
      holdings = holdings?.with(remains).inOrder
      fit(context)
      // Its details say what was found, and what was not.
      if let place = condition?.findings.firstIndex(where: { $0.kind == .deletions }) {
        list.select(place)
        detailList = List()
      }
      if isShown, !remains.isEmpty { return context.turnRemains() }
      // If nothing was deleted, the user stays in Browse.
      if isShown, isAskedInBrowse, context.screen == .rescue { context.screen = .browse }
      return context.screen == .rescue ? look(in: &context) : []
    case .rescued(let receipt) where task == self.task:
      self.task = nil
      show(receipt.of(context.storePath))
      // The report itself says it, and its keys are to be seen.
      context.notice =
        context.screen == Screen(RescueScreen.self)
        ? nil
        : Notice(
          receipt.notice + "; 5 shows the report", receipt.isLossy ? .warning : .success)
      switch receipt {
      case .repaired:
        fit(context)
        return context.reopen()
      case .edited(let receipt):
        fit(context)
        context.forgetPrepared(isChanged: !receipt.isNothing)
        return context.reopen()
      case .salvaged, .restored: break
      }
    default: break
    }
    fit(context)
    return []
  }

  mutating func fail(_ task: TaskID, _ error: CoreDataError, in context: inout Context) -> [Effect]
  {
    if lookTask.end(task) {
      if condition == nil { failure = error }
      return []
    }
    guard task == self.task, let work = running else { return [] }
    self.task = nil
    phase = .findings
    // Prepared changes stay prepared.
    if case .edit = work, isAskedInBrowse, context.screen == .rescue { context.screen = .browse }
    if error.kind == .cancelled {
      context.notice = Notice("stopped; \(work.left)", .warning)
    } else if let layer = PromptLayer.model(for: work, after: error) {
      context.show(layer)
    } else if case .salvage(var order) = work, [.refused, .usage].contains(error.kind) {
      // A name that is taken is not offered again.
      if error.kind == .refused, order.output == context.newStore("salvaged", besides: made) {
        made.insert(order.output)
        order.output = context.newStore("salvaged", besides: made)
      }
      context.show(PromptLayer.salvage(order, after: error, context.known))
    } else if case .restore(let order) = work, [.refused, .usage].contains(error.kind) {
      context.show(PromptLayer.restore(order, after: error, context.known))
    } else {
      context.show(MessageLayer(error))
    }
    return context.screen == .rescue ? look(in: &context) : []
  }

  mutating func cancel(in context: inout Context) -> [Effect]? {
    if let task, case .running(let work, let progress, _) = phase {
      phase = .running(work, progress, isCancelling: true)
      context.notice = Notice("stopping; the store stays as it is", .warning)
      return [.cancel(task)]
    }
    guard let effects = lookTask.stop() else { return nil }
    if condition == nil { failure = CoreDataError(.cancelled, "stopped; P looks again") }
    context.notice = Notice("stopped")
    return effects
  }

  /// Begins a piece of work; the person has been asked where it changes the store or makes one.
  mutating func start(_ work: RescueWork, in context: inout Context) -> [Effect] {
    guard running == nil else { return [] }
    // The rows of the store itself are what work is about, whatever was looked at.
    guard !context.remains.isShown else {
      return context.turnRemains() + context.on(RescueScreen.self) { $0.start(work, in: &$1) }
    }
    let effects = work.changesStore ? lookTask.stop() ?? [] : []
    isAskedInBrowse = context.screen == .browse
    edited = if case .edit(let order) = work { order.edit.objects.first?.id } else { nil }
    let task = context.newTask()
    self.task = task
    phase = .running(work, nil, isCancelling: false)
    context.screen = Screen(RescueScreen.self)
    context.notice = nil
    context.note(work.title(context.storePath))
    return effects + [.rescue(task, work)]
  }

  /// Looks for what was deleted.
  mutating func search(thenShow: Bool, in context: inout Context) -> [Effect] {
    start(.search(thenShow: thenShow), in: &context)
  }
}

extension StoreCondition {
  /// Of a private copy, whose path a person cannot type: what the store is in is never changed.
  fileprivate func of(_ copy: CopyPlace, of store: String) -> StoreCondition {
    var condition = self
    condition.findings.name(
      copy.path(of: store), as: store, isContained: copy.isContained, isAtomic: copy.whole != nil,
      model: copy.model)
    return condition
  }
}

extension [EntityHolding] {
  /// With what was found of deleted objects.
  func with(_ remains: Remains) -> [EntityHolding] {
    map { holding in
      var holding = holding
      let found = remains.entities.first { $0.name == holding.entity }
      (holding.deleted, holding.older) = (found?.deleted ?? 0, found?.older ?? 0)
      holding.missed = remains.missed.first { $0.entity == holding.entity }
      return holding
    }
  }

  /// With the keys that are in no row.
  fileprivate func with(unused keys: [String: Int]) -> [EntityHolding] {
    map { holding in
      var holding = holding
      holding.unused = keys[holding.entity]
      return holding
    }
  }

  /// Those of which something is lost or was deleted first, then those with the most objects.
  fileprivate var inOrder: [EntityHolding] {
    func rank(_ holding: EntityHolding) -> (Int, Int, Int, String) {
      (
        holding.lost == nil ? 1 : 0, -(holding.deleted ?? holding.unused ?? 0), -holding.live,
        holding.entity
      )
    }
    return sorted { rank($0) < rank($1) }
  }
}
