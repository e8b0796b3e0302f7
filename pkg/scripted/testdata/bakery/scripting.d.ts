export declare const trailblaze: any;
