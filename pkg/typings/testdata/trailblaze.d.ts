// Written by `trailblaze types` from the tools of the project. Do not edit: run it again.
import "@trailblaze/scripting";

declare module "@trailblaze/scripting" {
  interface Tools {
    /**
     * A name that is not one.
     *
     * Only in: shop on web
     */
    "*/ }; x\u{a}": {
      args: { [name: string]: never };
      result: unknown;
    };

    /** Only in: shop on web */
    __proto__: {
      args: { [name: string]: never };
      result: unknown;
    };

    /**
     * A name with a dot.
     *
     * Only in: shop on web
     */
    "cart.add-item": {
      args: {
        sku: string;
      };
      result: unknown;
    };

    /**
     * allOf.
     *
     * Only in: shop on web
     */
    combined: {
      args: {
        a: string;
        b: boolean;
      };
      result: unknown;
    };

    /**
     * allOf beside type.
     *
     * Only in: shop on web
     */
    combinedObject: {
      args: {
        a: string;
        b: boolean;
      };
      result: unknown;
    };

    /**
     * \@ts-expect-error
     *
     * Only in: shop on web
     */
    directive: {
      args: {
        /** \@ts-expect-error */
        a?: string;
      };
      result: unknown;
    };

    /**
     * *\/ export const a: never = 1; /* """ + exec(1) + """ \
     *   interface Evil {}
     *  end   reversed   "
     *
     * Only in: shop on web
     */
    hostile: {
      args: {
        /** *\/ declare const b: never; /* */
        "*/ x"?: string;
        __proto__?: string;
        "a\"; import os #\u{a}"?: "\"\"\"" | "\\" | "`${1}`" | "\u{2028}" | "*/";
        class?: string;
        self?: string;
      };
      result: unknown;
    };

    /**
     * A keyword.
     *
     * Only in: shop on web
     */
    import: {
      args: { [name: string]: never };
      result: unknown;
    };

    /** Only in: shop on web */
    none: {
      args: { [name: string]: never };
      result: unknown;
    };

    /**
     * anyOf that only names required arguments.
     *
     * Only in: shop on web
     */
    oneIsRequired: {
      args: {
        a?: string;
        b?: string;
      };
      result: unknown;
    };

    /**
     * Other arguments, too.
     *
     * Only in: shop on web
     */
    open: {
      args: {
        a: string;
        [name: string]: unknown;
      };
      result: unknown;
    };

    /**
     * A schema that contains itself.
     *
     * Only in: shop on web
     */
    recursive: {
      args: {
        node: {
          name: string;
          children?: unknown[];
        };
      };
      result: unknown;
    };

    /** Only in: shop on web */
    remote: {
      args: { [name: string]: unknown };
      result: unknown;
    };

    /**
     * A trail cannot call it.
     *
     * Only in: shop on web
     */
    saveAs: {
      args: { [name: string]: never };
      result: unknown;
    };

    /**
     * Scrolls the page.
     *
     * Only in: shop on web
     *
     * Scrolls the screen.
     *
     * Only in: shop on android
     */
    scroll: {
      args: {
        pixels: number;
      } | {
        direction: "up" | "down";
      };
      result: unknown;
    };

    /**
     * Selects by one of two ways.
     *
     * Only in: shop on web
     */
    select: {
      args: {
        id: string;
        reason: string;
      } | {
        label: string;
        reason: string;
      };
      result: unknown;
    };

    /** Signs a user up. Use {{plan}} in trails. */
    signUp: {
      args: {
        address: Address;
        /** What is bought */
        plan: "free" | "paid";
        anything?: unknown;
        /** The address for invoices */
        billing?: Address;
        consent?: true;
        labels?: { [name: string]: string };
        level?: unknown;
        position?: [number?, number?];
        seats?: number | null;
        tags?: (string | number)[];
      };
      result: {
        email: string;
        invoices: {
          total: number;
        }[];
      };
    };

    /**
     * Taps an element.
     *
     * It waits until the element can be tapped.
     */
    tap: {
      args: {
        /** The text on it */
        text: string;
        index?: number;
      };
      result: unknown;
    };

    /** Only in: shop on web */
    unknown: {
      args: { [name: string]: unknown };
      result: unknown;
    };
  }
}

export interface Address {
  city: string;
  street: string;
  country?: string;
  zip?: string;
}
