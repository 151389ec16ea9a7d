import ManagedModel
import Migration

extension StoreBatch {
  /// Tells what lets the refused stores pass all together, where that is more than each says for itself.
  func printWays(_ outcomes: [(path: String, outcome: Outcome)]) {
    let refused = outcomes.compactMap { path, outcome -> (path: String, advice: Advice)? in
      guard case .failure(let error) = outcome, error.kind == .refused, let advice = error.advice
      else { return nil }
      return (path, advice)
    }
    let losing = refused.map { $0.advice.values(of: .allowedLosses) }.filter { !$0.isEmpty }
    let losses = losing.joined().reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    if losing.count > 1 {
      let options = losses.map { "--allow-loss \($0)" }.joined(separator: " ")
      console.paragraph("to accept what all of them would lose: \(options)", indent: 2)
    }
    guard isSeeded, let unwritten = refused.last(where: { $0.advice.names(.documents) }) else {
      return
    }
    let version = ShellText.quoted(unwritten.path)
    console.paragraph(
      "a recipe to begin with: strata seed \(version) NEW-STORE, then strata plan NEW-STORE --to MODEL --mapping FOLDER --write-recipe FILE, with the folder of the mapping models",
      indent: 2)
  }
}
