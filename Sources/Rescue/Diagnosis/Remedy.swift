import Files
import ManagedModel
import ManagedStore

/// What helps against a finding, as a command.
package enum Remedy: Sendable, Equatable {
  /// What a remedy comes to for whoever offers it by other means than its command.
  package enum Action: Sendable { case salvage, repair, undelete, other }

  /// Everything that can be read, in a new store.
  case salvage
  /// The same with a model, which has to be given.
  case salvageByModel
  /// The same of the main file alone.
  case salvageMain
  /// What can be put right in the store itself.
  case repair
  /// The same with a model, which has to be given.
  case repairByModel
  /// The same with an entity, which has to be named.
  case repairByEntity
  /// A copy in which a file has the -wal's name.
  case copyWithLog(String)
  /// A copy in which a file has the -journal's name.
  case copyWithJournal(String)
  /// A copy of the main file without what lies beside it.
  case copyAlone
  /// A look at the objects that a predicate takes.
  case rows(entity: String, predicate: String)
  /// A look at these objects.
  case objects([ObjectID], of: String)
  /// A look at what was deleted.
  case undelete
  /// The same with a model, which has to be given.
  case undeleteByModel
  /// The models compared.
  case explain
  /// Nothing that a command does.
  case none

  package var action: Action {
    switch self {
    case .salvage, .salvageByModel, .salvageMain: .salvage
    case .repair, .repairByModel, .repairByEntity: .repair
    case .undelete, .undeleteByModel: .undelete
    case .copyWithLog, .copyWithJournal, .copyAlone, .rows, .objects, .explain, .none: .other
    }
  }

  /// The command, quoted for a shell.
  func command(for kind: FindingKind, _ store: StorePlace) -> String? {
    let path = Self.word(store.path)
    let model = store.model.map { " --model \(ShellText.quoted($0))" } ?? ""
    switch self {
    case .salvage:
      return
        "strata salvage \(path) --output \(Self.word(Self.beside(store.path, "salvaged")))\(model)"
    case .salvageByModel:
      return Remedy.salvage.command(for: kind, store).map {
        store.model == nil ? $0 + " --model MODEL" : $0
      }
    case .salvageMain: return Remedy.salvage.command(for: kind, store).map { $0 + " --ignore-wal" }
    case .repair:
      let choice = kind == .uniqueness ? " --keep newest" : ""
      return "strata repair \(path) --fix \(kind.rawValue)\(choice)\(model)"
    case .repairByModel:
      return Remedy.repair.command(for: kind, store).map {
        store.model == nil ? $0 + " --model MODEL" : $0
      }
    case .repairByEntity:
      return Remedy.repair.command(for: kind, store).map { $0 + " --entity ENTITY" }
    case .copyWithLog(let name): return Self.copy(store.path, with: name, as: "wal")
    case .copyWithJournal(let name): return Self.copy(store.path, with: name, as: "journal")
    case .copyAlone: return "cp -p \(path) \(Self.word(Self.beside(store.path, "alone")))"
    case .rows(let entity, let predicate):
      return
        "strata rows \(path) \(ShellText.quoted(entity)) --where \(ShellText.quoted(predicate))\(model)"
    case .objects(let objects, let entity):
      let names = objects.map { "\"\($0)\"" }.joined(separator: ", ")
      return Remedy.rows(entity: entity, predicate: "SELF IN {\(names)}").command(for: kind, store)
    case .undelete: return "strata undelete \(path)\(model)"
    case .undeleteByModel:
      return Remedy.undelete.command(for: kind, store).map {
        store.model == nil ? $0 + " --model MODEL" : $0
      }
    case .explain: return "strata explain \(path) \(store.model.map(ShellText.quoted) ?? "MODEL")"
    case .none: return nil
    }
  }

  private static func copy(_ store: String, with name: String, as suffix: String) -> String {
    let folder = FileSystem.parent(of: store) ?? "."
    let copy = beside(store, "with-" + suffix)
    return
      "cp -p \(word(store)) \(word(copy)) && cp -p \(word(folder + "/" + name)) \(word(copy + "-" + suffix))"
  }

  /// A path that no command takes for an option.
  private static func word(_ path: String) -> String {
    ShellText.quoted(path.hasPrefix("-") ? "./" + path : path)
  }

  /// A name beside the store: `Recipes-salvaged.sqlite`.
  private static func beside(_ path: String, _ what: String) -> String {
    let stem = FileSystem.stem(of: path)
    let ending = FileSystem.name(of: path).dropFirst(stem.count)
    let folder = FileSystem.parent(of: path).map { $0 == "/" ? "/" : $0 + "/" }
    let name = stem + "-" + what + ending
    return path.contains("/") ? (folder ?? "") + name : name
  }
}
