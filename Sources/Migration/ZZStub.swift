import ManagedModel
import ManagedStore
import SQLite

extension ExpressionScope {
  func compile(recipe text: String) throws -> CompiledExpression { CompiledExpression(text, []) }
}
enum RecipeFunctions {
  static func define(on connection: Connection, files: StoreFiles, storeUUID: String) throws {
    try connection.defineFunction("strata_content", arguments: 1) { arguments in
      guard case .blob(let bytes)? = arguments.first else { return arguments.first ?? .null }
      switch bytes.first {
      case 1: return .blob(Array(bytes.dropFirst()))
      case 2:
        let name = String(decoding: bytes.dropFirst().prefix { $0 != 0 }, as: UTF8.self)
        guard let path = files.externalData(named: name), let b = try? FileSystem.read(path) else {
          return .null
        }
        return .blob(b)
      default: return .blob(bytes)
      }
    }
  }
}
