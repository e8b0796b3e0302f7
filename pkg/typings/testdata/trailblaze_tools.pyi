# Written by `trailblaze types` from the tools of the project. Do not edit: run it again.
# pyright: reportIncompatibleMethodOverride=false, reportOverlappingOverload=false
# mypy: disable-error-code="override, overload-overlap, overload-cannot-match"
from collections.abc import Awaitable, Mapping
from typing import Any, Literal, overload
from typing_extensions import NotRequired, TypedDict, Unpack

from trailblaze import Result, TrailblazeClient

class XArgs(TypedDict):
    pass

class ProtoArgs(TypedDict):
    pass

class CartAddItemArgs(TypedDict):
    sku: str

class CombinedArgs(TypedDict):
    a: str
    b: bool

class CombinedObjectArgs(TypedDict):
    a: str
    b: bool

class DirectiveArgs(TypedDict):
    a: NotRequired[str]
    """@ts-expect-error"""

HostileArgs = TypedDict(
    "HostileArgs",
    {
        "*/ x": NotRequired[str],
        "__proto__": NotRequired[str],
        "a\"; import os #\U0000000a": NotRequired[Literal["\"\"\"", "\\", "`${1}`", "\U00002028", "*/"]],
        "class": NotRequired[str],
        "self": NotRequired[str],
    },
)

class ImportArgs(TypedDict):
    pass

class NoneArgs(TypedDict):
    pass

class OneIsRequiredArgs(TypedDict):
    a: NotRequired[str]
    b: NotRequired[str]

class Node(TypedDict):
    name: str
    children: NotRequired[list[Any]]

class RecursiveArgs(TypedDict):
    node: Node

class SaveAsArgs(TypedDict):
    pass

class ScrollArgs(TypedDict):
    pixels: float

class ScrollArgs_2(TypedDict):
    direction: Literal["up", "down"]

class SelectArgs(TypedDict):
    id: str
    reason: str

class SelectArgs_2(TypedDict):
    label: str
    reason: str

class Address(TypedDict):
    city: str
    street: str
    country: NotRequired[str]
    zip: NotRequired[str]

class SignUpArgs(TypedDict):
    address: Address
    plan: Literal["free", "paid"]
    """What is bought"""
    anything: NotRequired[Any]
    billing: NotRequired[Address]
    """The address for invoices"""
    consent: NotRequired[Literal[True]]
    labels: NotRequired[dict[str, str]]
    level: NotRequired[Any]
    position: NotRequired[list[float]]
    seats: NotRequired[int | None]
    tags: NotRequired[list[str | float]]

class Invoices(TypedDict):
    total: float

class SignUpResult(TypedDict):
    email: str
    invoices: list[Invoices]

class TapArgs(TypedDict):
    text: str
    """The text on it"""
    index: NotRequired[int]

class Tools:
    """The tools of the project. Each waits for the result."""

    # "*/ }; x\U0000000a" is not a name in Python: use call_tool.

    # "__proto__" is not a name in Python: use call_tool.

    # "cart.add-item" is not a name in Python: use call_tool.

    def combined(self, **args: Unpack[CombinedArgs]) -> Result[Any]:
        """allOf.

        Only in: shop on web
        """

    def combinedObject(self, **args: Unpack[CombinedObjectArgs]) -> Result[Any]:
        """allOf beside type.

        Only in: shop on web
        """

    def directive(self, **args: Unpack[DirectiveArgs]) -> Result[Any]:
        """@ts-expect-error

        Only in: shop on web
        """

    def hostile(self, /, **args: Unpack[HostileArgs]) -> Result[Any]:
        """*/ export const a: never = 1; /* \"\"\" + exec(1) + \"\"\" \\
          interface Evil {}
         end   reversed   \"

        Only in: shop on web
        """

    # "import" is not a name in Python: use call_tool.

    def none(self, **args: Unpack[NoneArgs]) -> Result[Any]:
        """Only in: shop on web"""

    def oneIsRequired(self, **args: Unpack[OneIsRequiredArgs]) -> Result[Any]:
        """anyOf that only names required arguments.

        Only in: shop on web
        """

    def open(self, **args: Any) -> Result[Any]:
        """Other arguments, too.

        Only in: shop on web
        """

    def recursive(self, **args: Unpack[RecursiveArgs]) -> Result[Any]:
        """A schema that contains itself.

        Only in: shop on web
        """

    def remote(self, **args: Any) -> Result[Any]:
        """Only in: shop on web"""

    def saveAs(self, **args: Unpack[SaveAsArgs]) -> Result[Any]:
        """A trail cannot call it.

        Only in: shop on web
        """

    @overload
    def scroll(self, **args: Unpack[ScrollArgs]) -> Result[Any]:
        """Scrolls the page.

        Only in: shop on web

        Scrolls the screen.

        Only in: shop on android
        """

    @overload
    def scroll(self, **args: Unpack[ScrollArgs_2]) -> Result[Any]:
        """Scrolls the page.

        Only in: shop on web

        Scrolls the screen.

        Only in: shop on android
        """

    @overload
    def select(self, **args: Unpack[SelectArgs]) -> Result[Any]:
        """Selects by one of two ways.

        Only in: shop on web
        """

    @overload
    def select(self, **args: Unpack[SelectArgs_2]) -> Result[Any]:
        """Selects by one of two ways.

        Only in: shop on web
        """

    def signUp(self, **args: Unpack[SignUpArgs]) -> Result[SignUpResult]:
        """Signs a user up. Use {{plan}} in trails."""

    def tap(self, **args: Unpack[TapArgs]) -> Result[Any]:
        """Taps an element.

        It waits until the element can be tapped.
        """

    def unknown(self, **args: Any) -> Result[Any]:
        """Only in: shop on web"""

class AsyncTools:
    """The tools of the project, to be awaited."""

    # "*/ }; x\U0000000a" is not a name in Python: use call_tool.

    # "__proto__" is not a name in Python: use call_tool.

    # "cart.add-item" is not a name in Python: use call_tool.

    def combined(self, **args: Unpack[CombinedArgs]) -> Awaitable[Result[Any]]:
        """allOf.

        Only in: shop on web
        """

    def combinedObject(self, **args: Unpack[CombinedObjectArgs]) -> Awaitable[Result[Any]]:
        """allOf beside type.

        Only in: shop on web
        """

    def directive(self, **args: Unpack[DirectiveArgs]) -> Awaitable[Result[Any]]:
        """@ts-expect-error

        Only in: shop on web
        """

    def hostile(self, /, **args: Unpack[HostileArgs]) -> Awaitable[Result[Any]]:
        """*/ export const a: never = 1; /* \"\"\" + exec(1) + \"\"\" \\
          interface Evil {}
         end   reversed   \"

        Only in: shop on web
        """

    # "import" is not a name in Python: use call_tool.

    def none(self, **args: Unpack[NoneArgs]) -> Awaitable[Result[Any]]:
        """Only in: shop on web"""

    def oneIsRequired(self, **args: Unpack[OneIsRequiredArgs]) -> Awaitable[Result[Any]]:
        """anyOf that only names required arguments.

        Only in: shop on web
        """

    def open(self, **args: Any) -> Awaitable[Result[Any]]:
        """Other arguments, too.

        Only in: shop on web
        """

    def recursive(self, **args: Unpack[RecursiveArgs]) -> Awaitable[Result[Any]]:
        """A schema that contains itself.

        Only in: shop on web
        """

    def remote(self, **args: Any) -> Awaitable[Result[Any]]:
        """Only in: shop on web"""

    def saveAs(self, **args: Unpack[SaveAsArgs]) -> Awaitable[Result[Any]]:
        """A trail cannot call it.

        Only in: shop on web
        """

    @overload
    def scroll(self, **args: Unpack[ScrollArgs]) -> Awaitable[Result[Any]]:
        """Scrolls the page.

        Only in: shop on web

        Scrolls the screen.

        Only in: shop on android
        """

    @overload
    def scroll(self, **args: Unpack[ScrollArgs_2]) -> Awaitable[Result[Any]]:
        """Scrolls the page.

        Only in: shop on web

        Scrolls the screen.

        Only in: shop on android
        """

    @overload
    def select(self, **args: Unpack[SelectArgs]) -> Awaitable[Result[Any]]:
        """Selects by one of two ways.

        Only in: shop on web
        """

    @overload
    def select(self, **args: Unpack[SelectArgs_2]) -> Awaitable[Result[Any]]:
        """Selects by one of two ways.

        Only in: shop on web
        """

    def signUp(self, **args: Unpack[SignUpArgs]) -> Awaitable[Result[SignUpResult]]:
        """Signs a user up. Use {{plan}} in trails."""

    def tap(self, **args: Unpack[TapArgs]) -> Awaitable[Result[Any]]:
        """Taps an element.

        It waits until the element can be tapped.
        """

    def unknown(self, **args: Any) -> Awaitable[Result[Any]]:
        """Only in: shop on web"""

class Client(TrailblazeClient):
    """A TrailblazeClient that knows the tools of the project."""

    @property
    def tools(self) -> Tools: ...
    @property
    def tools_async(self) -> AsyncTools: ...
    @overload
    def call_tool(self, name: Literal["*/ }; x\U0000000a"], args: XArgs | None = ...) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["__proto__"], args: ProtoArgs | None = ...) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["cart.add-item"], args: CartAddItemArgs) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["combined"], args: CombinedArgs) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["combinedObject"], args: CombinedObjectArgs) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["directive"], args: DirectiveArgs | None = ...) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["hostile"], args: HostileArgs | None = ...) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["import"], args: ImportArgs | None = ...) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["none"], args: NoneArgs | None = ...) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["oneIsRequired"], args: OneIsRequiredArgs | None = ...) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["open"], args: Mapping[str, Any] | None = ...) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["recursive"], args: RecursiveArgs) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["remote"], args: Mapping[str, Any] | None = ...) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["saveAs"], args: SaveAsArgs | None = ...) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["scroll"], args: ScrollArgs) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["scroll"], args: ScrollArgs_2) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["select"], args: SelectArgs) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["select"], args: SelectArgs_2) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["signUp"], args: SignUpArgs) -> Result[SignUpResult]: ...
    @overload
    def call_tool(self, name: Literal["tap"], args: TapArgs) -> Result[Any]: ...
    @overload
    def call_tool(self, name: Literal["unknown"], args: Mapping[str, Any] | None = ...) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["*/ }; x\U0000000a"], args: XArgs | None = ...) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["__proto__"], args: ProtoArgs | None = ...) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["cart.add-item"], args: CartAddItemArgs) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["combined"], args: CombinedArgs) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["combinedObject"], args: CombinedObjectArgs) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["directive"], args: DirectiveArgs | None = ...) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["hostile"], args: HostileArgs | None = ...) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["import"], args: ImportArgs | None = ...) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["none"], args: NoneArgs | None = ...) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["oneIsRequired"], args: OneIsRequiredArgs | None = ...) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["open"], args: Mapping[str, Any] | None = ...) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["recursive"], args: RecursiveArgs) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["remote"], args: Mapping[str, Any] | None = ...) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["saveAs"], args: SaveAsArgs | None = ...) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["scroll"], args: ScrollArgs) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["scroll"], args: ScrollArgs_2) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["select"], args: SelectArgs) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["select"], args: SelectArgs_2) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["signUp"], args: SignUpArgs) -> Result[SignUpResult]: ...
    @overload
    async def call_tool_async(self, name: Literal["tap"], args: TapArgs) -> Result[Any]: ...
    @overload
    async def call_tool_async(self, name: Literal["unknown"], args: Mapping[str, Any] | None = ...) -> Result[Any]: ...
