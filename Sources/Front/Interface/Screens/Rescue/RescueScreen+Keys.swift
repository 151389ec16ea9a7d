import ManagedModel
import Reports
import Rescue
import Terminal

extension RescueScreen {
  func bindings(_ context: Context) -> [Binding] {
    enter(context) + [
      Binding(
        ["s"], "salvage", shows("salvage") { $0.salvage($1) }, unless: reasonNotToSalvage(context),
        command: context.known.command("salvage", "--output NEW"),
        footer: running == nil && condition?.isReadable != false),
      Binding(
        ["u"], "undelete", does("undelete") { $0.undelete(in: &$1) },
        unless: reasonNotToUndelete(context),
        command: context.known.command("undelete"), footer: phase == .findings),
      Binding(
        ["f"], "fix", shows("repair") { $0.repair($1) }, unless: reasonNotToRepair(context),
        command: context.known.command("repair"),
        footer: phase == .findings && condition?.findings.contains(where: \.isRepaired) == true),
      Binding(
        ["D"], "deleted rows", .remains, unless: reasonNotToUndelete(context),
        command: context.known.command("undelete", "ENTITY"), footer: phase == .findings),
      Binding(
        ["w"], "write the report",
        shows("writeReceipt") { screen, context in
          screen.receipt.map {
            NewFileLayer(.rescue($0), $0.report, storePath: context.storePath)
          }
        },
        unless: receipt == nil ? "there is no report yet" : nil,
        command: context.known.command("salvage", "--output NEW --report FILE"),
        footer: receipt != nil),
      Binding(
        ["r"], "the last report",
        changes("showReceipt") { if let last = $0.lastReceipt { $0.show(last) } },
        unless: lastReceipt == nil ? "there is no report yet" : noPanes,
        footer: phase == .findings && lastReceipt != nil),
      Binding(
        ["P"], "check again", does("lookAgain") { $0.lookAgain(in: &$1) },
        unless: lookTask != nil ? "it is being checked" : busy(context),
        command: context.known.command("doctor"), footer: failure != nil),
      Binding(
        [.tab], "pane", does("nextPane") { $0.turn(1, $1) }, unless: noPanes,
        footer: phase == .findings),
      Binding(
        [.backTab], "previous pane", does("previousPane") { $0.turn(-1, $1) }, unless: noPanes,
        footer: false),
      CopyLayer.binding(copies(context), footer: running == nil),
      scrolling { $0.navigate($1, $2) },
    ]
  }

  private var noPanes: String? { phase == .findings ? nil : "there is one pane now" }

  private func busy(_ context: Context) -> String? { context.work.map { "\($0) is running" } }

  private func reasonNotToSalvage(_ context: Context) -> String? {
    if let busy = busy(context) { return busy }
    if condition?.isReadable == false { return "nothing of the store can be read" }
    return context.openTask == nil ? nil : "the store is being opened"
  }

  private func reasonNotToUndelete(_ context: Context) -> String? {
    if let busy = busy(context) { return busy }
    if let copy = context.copy, copy.whole != nil { return "\(copy.noun) keeps no deleted objects" }
    if condition?.isReadable == false { return "nothing of the store can be read" }
    if let remains = context.remains.remains, remains.isEmpty { return remains.summary }
    return context.openTask == nil ? nil : "the store is being opened"
  }

  private func reasonNotToRepair(_ context: Context) -> String? {
    if let busy = busy(context) { return busy }
    if let copy = context.copy { return copy.refusal }
    guard let condition else { return "doctor has not finished yet" }
    return condition.findings.contains(where: \.isRepaired)
      ? nil
      : condition.findings.isEmpty
        ? "nothing is wrong" : "none of this can be repaired in the store itself"
  }

  /// Enter and Escape mean what the moment asks for.
  private func enter(_ context: Context) -> [Binding] {
    switch phase {
    case .findings:
      let reason = reasonNotToGo(context)
      return [
        Binding([.enter], goTitle(context), opens, unless: reason, footer: reason == nil)
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

  private func goTitle(_ context: Context) -> String {
    if focus == .holdings { return "go to the rows" }
    return selectedFinding.flatMap { ConcernedRows($0, context) }?.title ?? "go to the rows"
  }

  private func reasonNotToGo(_ context: Context) -> String? {
    guard context.store != nil else { return "the store does not open; s salvages it first" }
    if focus == .holdings {
      return holdings?.element(holdingList.selected) == nil ? "nothing is selected" : nil
    }
    guard let selectedFinding else { return "nothing is selected" }
    return ConcernedRows(selectedFinding, context) == nil
      ? "this finding is about the file, not about rows" : nil
  }

  mutating func didAct(_ context: Context) { fit(context) }

  private func salvage(_ context: Context) -> PromptLayer {
    .salvage(
      SalvageOrder(
        output: context.newStore("salvaged"),
        ignoresLog: selectedFinding?.command?.names(.ignoresLog) == true,
        isLogForeign: [.walForeign, .walUnknown].contains(selectedFinding?.kind)), context.known)
  }

  mutating func undelete(in context: inout Context) -> [Effect] {
    guard context.remains.remains != nil else { return search(thenShow: false, in: &context) }
    let order = RestoreOrder(output: context.newStore("undeleted"), choice: .all(entity: nil))
    context.show(PromptLayer.restore(order, context.known))
    return []
  }

  private func repair(_ context: Context) -> ChoiceLayer? {
    condition.flatMap {
      ChoiceLayer.repair(
        $0.findings, selected: selectedFinding, offersUndelete: reasonNotToUndelete(context) == nil)
    }
  }

  private func browseResult(in context: inout Context) -> [Effect] {
    guard let receipt else { return [] }
    if let output = receipt.output { return [.choose(output)] }
    guard case .edited = receipt, let edited else { return context.go(to: .browse) }
    return context.go(to: .browse)
      + context.on(BrowseScreen.self) { $0.goTo(object: edited, in: &$1) }
  }

  private mutating func closeReceipt(in context: inout Context) -> [Effect] {
    phase = .findings
    return look(in: &context)
  }

  /// The next pane that there is room for.
  private mutating func turn(_ step: Int, _ context: Context) -> [Effect] {
    repeat {
      focus = focus.next(step)
    } while RescueLayout(self, context).rect(of: focus).isEmpty
      && focus != .findings
    return []
  }

  private var opens: Action { does("open") { $0.open(in: &$1) } }

  private func open(in context: inout Context) -> [Effect] {
    guard focus == .holdings else {
      return selectedFinding.flatMap { ConcernedRows($0, context) }?.show(in: &context) ?? []
    }
    guard let entity = holdings?.element(holdingList.selected)?.entity else { return [] }
    return context.on(BrowseScreen.self) { $0.goTo(entity: entity, in: &$1) }
  }

  private mutating func navigate(_ key: Key, _ context: Context) {
    if receipt != nil {
      receiptList.scrollPage(
        key, count: lines(context).count, height: context.body.height - 2)
      return
    }
    switch focus {
    case .findings:
      list.handle(key)
      detailList = List()
    case .details:
      let layout = RescueLayout(self, context)
      detailList.scrollPage(
        key, count: details(context, width: layout.textWidth).count,
        height: layout.details.height - 2
      )
    case .holdings: holdingList.handle(key)
    }
  }

  /// Gives the lists their lengths and heights, so that a page is the page that is seen.
  mutating func fit(_ context: Context) {
    let layout = RescueLayout(self, context)
    list.setCount(condition?.findings.count ?? 0)
    list.setHeight(layout.findings.height - 2)
    holdingList.setCount(holdings?.count ?? 0)
    holdingList.setHeight(layout.holdings.height - 3)
    if layout.rect(of: focus).isEmpty { focus = .findings }
  }

  func copies(_ context: Context) -> [CopyLayer.Choice] {
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
        CopyLayer.Choice("finding with its remedy", text: text.joined(separator: "\n")),
      ]
    }
  }

  func note(_ context: Context) -> String {
    guard phase == .findings, let condition else { return "" }
    return condition.findings.isEmpty
      ? "" : "\(list.selected + 1) of \(condition.findings.count)"
  }
}
