import ManagedModel
import Rescue
import Terminal

extension RescueScreen {
  func bindings(_ state: State) -> [Binding] {
    enter(state) + [
      Binding(
        ["s"], "salvage", shows("salvage") { $0.salvage($1) }, unless: reasonNotToSalvage(state),
        command: "strata salvage \(state.storeArgument) --output NEW",
        footer: running == nil && condition?.isReadable != false),
      Binding(
        ["u"], "undelete", does("undelete") { $0.undelete(in: &$1) },
        unless: reasonNotToUndelete(state),
        command: "strata undelete \(state.storeArgument)", footer: phase == .findings),
      Binding(
        ["f"], "fix", shows("repair") { $0.repair($1) }, unless: reasonNotToRepair(state),
        command: "strata repair \(state.storeArgument)",
        footer: phase == .findings && condition?.findings.contains(where: \.isRepaired) == true),
      Binding(
        ["D"], "deleted rows", .remains, unless: reasonNotToUndelete(state),
        command: "strata undelete \(state.storeArgument) ENTITY", footer: phase == .findings),
      Binding(
        ["w"], "write the report",
        shows("writeReceipt") { screen, state in
          screen.receipt.map {
            ReceiptFileLayer(.rescue($0), $0.report, storePath: state.storePath)
          }
        },
        unless: receipt == nil ? "there is no report yet" : nil,
        command: "strata salvage \(state.storeArgument) --output NEW --report FILE",
        footer: receipt != nil),
      Binding(
        ["r"], "the last report",
        changes("showReceipt") { if let last = $0.lastReceipt { $0.show(last) } },
        unless: lastReceipt == nil ? "there is no report yet" : noPanes,
        footer: phase == .findings && lastReceipt != nil),
      Binding(
        ["P"], "look again", does("lookAgain") { $0.lookAgain(in: &$1) },
        unless: lookTask != nil ? "it is being looked at" : busy(state),
        command: "strata doctor \(state.storeArgument)", footer: failure != nil),
      Binding(
        [.tab], "pane", does("nextPane") { $0.turn(1, $1) }, unless: noPanes,
        footer: phase == .findings),
      Binding(
        [.backTab], "previous pane", does("previousPane") { $0.turn(-1, $1) }, unless: noPanes,
        footer: false),
      Binding(
        ["y"], "copy", CopyLayer.action,
        unless: copies(state).isEmpty ? "nothing is selected" : nil,
        footer: running == nil),
      scrolling { $0.navigate($1, $2) },
    ]
  }

  private var noPanes: String? { phase == .findings ? nil : "there is one pane now" }

  private func busy(_ state: State) -> String? { state.work.map { "\($0) is running" } }

  private func reasonNotToSalvage(_ state: State) -> String? {
    if let busy = busy(state) { return busy }
    if condition?.isReadable == false { return "nothing of the store can be read" }
    return state.openTask == nil ? nil : "the store is being opened"
  }

  private func reasonNotToUndelete(_ state: State) -> String? {
    if let busy = busy(state) { return busy }
    if condition?.isReadable == false { return "nothing of the store can be read" }
    if let remains = state.remains.remains, remains.isEmpty { return remains.summary }
    return state.openTask == nil ? nil : "the store is being opened"
  }

  private func reasonNotToRepair(_ state: State) -> String? {
    if let busy = busy(state) { return busy }
    if state.copy != nil { return "what the store is in is never changed" }
    guard let condition else { return "doctor has not told what is wrong yet" }
    return condition.findings.contains(where: \.isRepaired)
      ? nil
      : condition.findings.isEmpty
        ? "nothing is wrong" : "nothing of this can be put right in the store itself"
  }

  /// Enter and Escape mean what the moment asks for.
  private func enter(_ state: State) -> [Binding] {
    switch phase {
    case .findings:
      let reason = reasonNotToGo(state)
      return [
        Binding([.enter], goTitle(state), opens, unless: reason, footer: reason == nil)
      ]
    case .running(let work, _, _):
      return [
        Binding(
          [.enter], "go to the rows", opens, unless: "\(work.name) is running", footer: false)
      ]
    case .done:
      return [
        Binding(
          [.enter], receipt?.output == nil ? "browse the result" : "open the new store",
          does("browseResult") { $0.browseResult(in: &$1) }),
        Binding([.escape], "close the report", does("closeReceipt") { $0.closeReceipt(in: &$1) }),
      ]
    }
  }

  private func goTitle(_ state: State) -> String {
    if focus == .holdings { return "go to the rows" }
    return selectedFinding.flatMap { ConcernedRows($0, state) }?.title ?? "go to the rows"
  }

  private func reasonNotToGo(_ state: State) -> String? {
    guard state.store != nil else { return "the store does not open; s salvages it first" }
    if focus == .holdings {
      return holdings?.element(holdingList.selected) == nil ? "nothing is selected" : nil
    }
    guard let selectedFinding else { return "nothing is selected" }
    return ConcernedRows(selectedFinding, state) == nil
      ? "it is about the file, not about rows" : nil
  }

  mutating func didAct(in state: inout State) { fit(state) }

  private func salvage(_ state: State) -> PromptLayer {
    .salvage(
      SalvageOrder(
        output: state.newStore("salvaged"),
        ignoresLog: selectedFinding?.command?.names(.ignoresLog) == true,
        isLogForeign: selectedFinding?.kind == .walForeign), state)
  }

  mutating func undelete(in state: inout State) -> [Effect] {
    guard state.remains.remains != nil else { return search(thenShow: false, in: &state) }
    let order = RestoreOrder(output: state.newStore("undeleted"), choice: .all(entity: nil))
    state.show(PromptLayer.restore(order, state))
    return []
  }

  private func repair(_ state: State) -> ChoiceLayer? {
    condition.flatMap {
      ChoiceLayer.repair(
        $0.findings, selected: selectedFinding, offersUndelete: reasonNotToUndelete(state) == nil)
    }
  }

  private func browseResult(in state: inout State) -> [Effect] {
    guard let receipt else { return [] }
    return receipt.output.map { [.choose($0)] } ?? state.go(to: .browse)
  }

  private mutating func closeReceipt(in state: inout State) -> [Effect] {
    phase = .findings
    return look(in: &state)
  }

  /// The next pane that there is room for.
  private mutating func turn(_ step: Int, _ state: State) -> [Effect] {
    repeat {
      focus = focus.next(step)
    } while RescueLayout(state).rect(of: focus).isEmpty
      && focus != .findings
    return []
  }

  private var opens: Action { does("open") { $0.open(in: &$1) } }

  private func open(in state: inout State) -> [Effect] {
    guard focus == .holdings else {
      return selectedFinding.flatMap { ConcernedRows($0, state) }?.show(in: &state) ?? []
    }
    guard let entity = holdings?.element(holdingList.selected)?.entity else { return [] }
    return state.on(BrowseScreen.self) { $0.goTo(entity: entity, in: &$1) }
  }

  private mutating func navigate(_ key: Key, _ state: State) {
    if receipt != nil {
      receiptList.scrollPage(
        key, count: lines(state).count, height: state.body.height - 2)
      return
    }
    switch focus {
    case .findings:
      list.handle(key)
      detailList = List()
    case .details:
      let layout = RescueLayout(state)
      detailList.scrollPage(
        key, count: details(state, width: layout.textWidth).count, height: layout.details.height - 2
      )
    case .holdings: holdingList.handle(key)
    }
  }

  /// Tells the lists how long and how tall they are, so that a page is the page that is seen.
  mutating func fit(_ state: State) {
    let layout = RescueLayout(state)
    list.setCount(condition?.findings.count ?? 0)
    list.setHeight(layout.findings.height - 2)
    holdingList.setCount(holdings?.count ?? 0)
    holdingList.setHeight(layout.holdings.height - 3)
    if layout.rect(of: focus).isEmpty { focus = .findings }
  }

  func copies(_ state: State) -> [CopyLayer.Choice] {
    switch phase {
    case .running: return []
    case .done(let receipt):
      return [
        CopyLayer.Choice("report as text", text: ReportText.text(receipt.report))
      ] + (receipt.output.map { [CopyLayer.Choice("path of the new store", text: $0)] } ?? [])
    case .findings:
      if focus == .holdings, let holdings {
        return [CopyLayer.Choice("table", text: HoldingTable(holdings, condition).text)]
      }
      guard let finding = selectedFinding else { return [] }
      let text = FindingText(finding, hints: false).lines(width: 10_000).map(\.text.printable)
      return (finding.command.map { [CopyLayer.Choice(command: $0.typed)] } ?? []) + [
        CopyLayer.Choice("finding", text: finding.sentence.printable),
        CopyLayer.Choice("finding with what helps", text: text.joined(separator: "\n")),
      ]
    }
  }

  func note(_ state: State) -> String {
    guard phase == .findings, let condition else { return "" }
    return condition.findings.isEmpty
      ? "" : "\(list.selected + 1) of \(condition.findings.count)"
  }
}
