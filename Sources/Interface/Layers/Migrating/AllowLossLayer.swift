import ManagedModel
import Migration
import Terminal

/// Asks for a word before the objects of an entity, or everything that would be lost, are given up.
struct AllowLossLayer: PromptingLayer {
  /// What is done once the word is typed.
  enum Deed: Sendable, Equatable {
    /// Losses are accepted.
    case accept([Loss])
    /// So many objects of an entity are deleted on purpose, as a recipe says it.
    case delete(String, objects: Int)
  }

  let deed: Deed
  var prompt = Prompt()

  init(_ deed: Deed) { self.deed = deed }

  /// Of one entity its own name has to be typed.
  var word: String {
    switch deed {
    case .accept(let losses): losses.count == 1 ? losses[0].entity : "all"
    case .delete(let entity, _): entity
    }
  }

  var isConfirmed: Bool { prompt.text == word }

  func bindings(_ state: State) -> [Binding] {
    let title = if case .accept = deed { "accept" } else { "delete on purpose" }
    return [
      Binding(
        [.enter], title, .confirm, unless: isConfirmed ? nil : "type “\(word)” first"),
      Binding([.escape], "close", .close),
    ]
  }

  func perform(_ action: Action, _ key: Key, in state: inout State) -> LayerOutcome {
    guard action == .confirm else { return .stay() }
    return .close(
      state.on(MappingScreen.self) { mapping, state in
        switch deed {
        case .accept(let losses): mapping.allow(losses, in: &state)
        case .delete(let entity, _): mapping.apply([.delete(entity)], in: &state)
        }
      })
  }

  private var text: String {
    let what =
      switch deed {
      case .accept(let losses): Self.words(losses) + " would be lost."
      case .delete(let entity, let objects):
        "The migration deletes the objects of \(entity) on purpose: "
          + "\(NumberText.counted(objects, "object")) in this store."
      }
    return what + " Type “\(word)” to accept that."
  }

  private static func words(_ losses: [Loss]) -> String {
    guard losses.count != 1 else { return "\(losses[0].counted) of \(losses[0].name)" }
    let names = losses.prefix(8).map(\.name).joined(separator: ", ")
    return "\(losses.counted): \(names)"
      + (losses.count > 8 ? " and \(losses.count - 8) more" : "")
  }

  private var title: String {
    switch deed {
    case .accept(let losses): losses.count == 1 ? "! Accept the loss" : "! Accept all losses"
    case .delete: "! Delete on purpose"
    }
  }

  func draw(_ state: State, with theme: Theme, in grid: inout Grid, _ rect: Rect) {
    draw(
      title, text, width: 60,
      mark: isConfirmed ? Span("✓ ", theme[.success]) : Span("› ", theme[.dim]), with: theme,
      in: &grid, rect)
  }
}
