#if os(Linux)
  /// What is done to one system call of a program, as Tests/FaultShim does it.
  public struct Fault: Sendable, CustomStringConvertible {
    public enum Action: String, CaseIterable, Sendable {
      case kill
      /// Half of a write, then the end.
      case tear
      case inputOutputError = "EIO"
      case noSpace = "ENOSPC"
      /// No space from here on, for all that needs some.
      case full
    }

    public var action: Action
    /// The number of the call among those that change something, from 1.
    public var call: Int

    public init(_ action: Action, at call: Int) {
      self.action = action
      self.call = call
    }

    public var description: String { "\(action.rawValue) at call \(call)" }

    /// Whether the program gets to say anything.
    var endsProgram: Bool { action == .kill || action == .tear }

    /// Variables for a program whose calls on paths below the folder count.
    public func environment(folder: String) -> [String: String] {
      var variables = Self.shim(folder: folder)
      variables["FAULT_AT"] = String(call)
      variables["FAULT_ACTION"] = action.rawValue
      return variables
    }

    /// Variables that have the calls written to a file, a line each, and let none fail.
    public static func counting(folder: String, log: String) -> [String: String] {
      shim(folder: folder).merging(["FAULT_LOG": log]) { $1 }
    }

    private static func shim(folder: String) -> [String: String] {
      ["LD_PRELOAD": Built.faultShim ?? "", "FAULT_FOLDER": folder]
    }
  }
#endif
