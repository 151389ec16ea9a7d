import ManagedModel
import Migration
import Reports
import Terminal

/// A popup that asks for a line of text.
struct PromptLayer: LayerContent {
  /// What stands above the line, and what Enter does with it.
  struct Offer: Sendable, Equatable {
    var text: String
    var role: Theme.Role? = .dim
    var enter: String
    var intent: Intent
  }

  let title: String
  var offer: Offer
  /// What is offered instead while the line is as it was.
  var again: Offer?
  /// The only text that Enter takes.
  var word: String?
  /// Why Enter does nothing with an empty line.
  var empty = "type a name first"
  var width = 72
  let initial: String
  var prompt: Prompt
  /// Why the last try came to nothing.
  var problem: CoreDataError?

  init(_ title: String, _ initial: String, _ offer: Offer, after problem: CoreDataError? = nil) {
    (self.title, self.initial, self.offer, self.problem) = (title, initial, offer, problem)
    prompt = Prompt(initial)
  }

  private var current: Offer { prompt.text == initial ? again ?? offer : offer }

  private var reasonNotToConfirm: String? {
    if let word { return prompt.text == word ? nil : "type “\(word)” first" }
    return prompt.text.allSatisfy(\.isWhitespace) ? empty : nil
  }

  func bindings(_ context: Context) -> [Binding] {
    var bindings = [
      Binding([.enter], current.enter, confirms, unless: reasonNotToConfirm),
      closing([.escape]),
    ]
    if case .salvage(let order) = offer.intent, order.isLogForeign {
      bindings.append(
        Binding([.tab], order.ignoresLog ? "with the -wal" : "without the -wal", turns))
    }
    return bindings
  }

  private var confirms: Action {
    does("confirm") { .close($1.run($0.current.intent, $0.prompt.text)) }
  }

  /// Salvages without the -wal, or with it again.
  private var turns: Action {
    asks("nextPane") { layer, context in
      guard case .salvage(var order) = layer.offer.intent else { return [] }
      order.ignoresLog.toggle()
      layer.offer = Self.salvage(order, after: layer.problem, context.known).offer
      return []
    }
  }

  mutating func type(_ key: Key, in context: inout Context) -> [Effect] {
    prompt.handle(key)
    return []
  }

  func draw(_ context: Context, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    let width = max(1, min(width, rect.width - 4))
    let lines = Wrapping.lines(current.text, width: width)
    let inside = Popup(title, width, lines.count + 2).draw(in: &grid, rect, theme: theme)
    grid.write(lines, in: inside, style: current.role.map { theme[$0] } ?? .plain)
    let isConfirmed = word != nil && reasonNotToConfirm == nil
    let sign =
      isConfirmed
      ? Span("✓ ", theme[.success]) : Span("› ", theme[word == nil ? .footerKey : .dim])
    prompt.draw(
      in: &grid, inside.row(min(lines.count + 1, max(0, inside.height - 1))), label: [sign],
      theme: theme)
  }
}

extension CoreDataError {
  fileprivate var sentence: String { "✗ \(message)" + (typedHint.map { " → \($0)" } ?? "") }
}

/// Every line that is asked for.
extension PromptLayer {
  /// The path of the store that salvaged objects go into.
  static func salvage(
    _ order: SalvageOrder, after problem: CoreDataError? = nil, _ known: Known
  ) -> PromptLayer {
    let text =
      "What can still be read \(order.words)goes into a new store; \(known.storePath) is only read. Path of the new store:"
    return PromptLayer(
      "Salvage into", order.output,
      Offer(
        text: problem?.sentence ?? text, role: problem == nil ? .dim : .warning,
        enter: "salvage…", intent: .salvage(order)), after: problem)
  }

  /// The path of the store that deleted objects are restored into.
  static func restore(
    _ order: RestoreOrder, after problem: CoreDataError? = nil, _ known: Known
  ) -> PromptLayer {
    let text =
      "The new store gets what the store has, and \(order.choice.words). \(known.storePath) is only read. Path of the new store:"
    return PromptLayer(
      "Restore into", order.output,
      Offer(
        text: problem?.sentence ?? text, role: problem == nil ? .dim : .warning,
        enter: "restore…", intent: .restore(order)))
  }

  /// The model that made the store, where the store itself has none any more.
  ///
  /// - Returns: `nil` where a model does not help, or the work takes none.
  static func model(for work: RescueWork, after problem: CoreDataError) -> PromptLayer? {
    guard problem.advice?.names(.model) == true, work.taking(model: "") != nil else { return nil }
    let text =
      "\(problem.message.capitalizedFirst). The model is needed to recognise its rows: give the path of a .xcdatamodeld, .momd or .mom, or of an undamaged store of the same version."
    var layer = PromptLayer(
      "Which model made the store?", work.model ?? "",
      Offer(text: text, role: .warning, enter: "try this model", intent: .retry(work)))
    layer.empty = "type a path first"
    return layer
  }

  /// A word before losses are accepted: the name of the entity, where it is of one.
  static func accept(_ losses: [Loss]) -> PromptLayer {
    let isOne = losses.count == 1
    let names = losses.prefix(8).map(\.name).joined(separator: ", ")
    let more = losses.count > 8 ? " and \(losses.count - 8) more" : ""
    let what =
      isOne ? "\(losses[0].counted) of \(losses[0].name)" : "\(losses.counted): \(names)\(more)"
    return word(
      isOne ? losses[0].entity : "all", "! Accept \(isOne ? "the loss" : "all losses")",
      what + " would be lost.", enter: "accept", .accept(losses))
  }

  /// The number of objects that an edit of a mirrored store deletes on all devices.
  static func deleteEverywhere(_ order: EditOrder, count: Int) -> PromptLayer {
    var order = order
    order.confirmedDeletions = count
    let objects = NumberText.counted(count, "object")
    return word(
      "\(count)", "! Delete on all devices",
      "The store is mirrored to iCloud: at its next start the app deletes \(objects) on all devices. A rollback afterwards takes nothing back there.",
      enter: "write and delete", .rescue(.edit(order)))
  }

  /// A word before so many objects of an entity are deleted on purpose, as a recipe says it.
  static func delete(_ entity: String, objects: Int) -> PromptLayer {
    word(
      entity, "! Delete on purpose",
      "The migration deletes the objects of \(entity) on purpose: "
        + "\(NumberText.counted(objects, "object")) in this store.",
      enter: "delete on purpose", .delete(entity))
  }

  private static func word(
    _ word: String, _ title: String, _ text: String, enter: String, _ intent: Intent
  ) -> PromptLayer {
    var layer = PromptLayer(
      title, "",
      Offer(
        text: text + " Type “\(word)” to accept that.", role: nil, enter: enter, intent: intent))
    (layer.word, layer.width) = (word, 60)
    return layer
  }

  /// The file that a recipe is written to.
  static func write(_ file: RecipeFile, after problem: CoreDataError? = nil) -> PromptLayer {
    var file = file
    file.overwrites = false
    let text =
      "The mapping as a recipe, for --mapping FILE. It can be read, changed and reviewed."
    var layer = PromptLayer(
      "Write the recipe to", file.path,
      Offer(
        text: problem?.sentence ?? text, role: problem == nil ? .dim : .error, enter: "write",
        intent: .write(file)))
    if problem?.kind == .refused {
      file.overwrites = true
      layer.again = Offer(
        text: "! The file exists. Enter overwrites it; another name keeps it.",
        role: .warning, enter: "overwrite it", intent: .write(file))
    }
    return layer
  }
}

extension RestoreOrder.Choice {
  /// Which objects, for a sentence.
  var words: String {
    switch self {
    case .all(nil): "every deleted object that was found"
    case .all(let entity?): "every deleted \(entity) that was found"
    case .only(let id): "\(id) alone"
    case .matching(let filter): "the deleted objects of \(filter.entity) that match the filter"
    }
  }
}
